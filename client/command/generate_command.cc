// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/command/again.h"
#include "client/command/bill_text.h"
#include "client/command/chrome_trace.h"
#include "client/command/commands.h"
#include "client/command/follow.h"
#include "client/command/json_output.h"
#include "client/command/quantity.h"
#include "client/command/several_videos.h"
#include "client/command/spec_flags.h"
#include "client/error_details.h"
#include "kernels/base/program/flag_checks.h"

namespace reel::client {
namespace {

constexpr double kMostRetakeSeconds = 86'400;
constexpr char kKeepState[] = "Keep what others need to go on from this one";

// How a video is followed, and where it goes.
struct RenderFlags {
  JobFlags job;
  std::string output;
  std::string preview_dir;
  std::string trace;
  CountFlag count;
  bool detach = false;
  bool profile = false;

  void AddTo(CLI::App& command);
};

void RenderFlags::AddTo(CLI::App& command) {
  job.AddTo(command);
  command
      .add_option("-o,--output", output, "File to write, - for stdout; default reel-DATE-TIME.mp4")
      ->check(WhyNotMp4);
  command.add_flag("--profile", profile, "Print where the time went, to stderr");
  command.add_option("--trace", trace,
                     "Write where the time went as a file for Perfetto or chrome://tracing");
  command.add_flag("--detach", detach, "Keep the job running when this command ends");
}

// Named by the clock: text from the server never becomes a path.
std::string DefaultOutput() {
  const std::string stem =
      absl::StrCat("reel-", absl::FormatTime("%Y%m%d-%H%M%S", absl::Now(), absl::LocalTimeZone()));
  std::string path = stem + ".mp4";
  for (int i = 2; std::filesystem::exists(path); ++i) path = absl::StrCat(stem, "-", i, ".mp4");
  return path;
}

ExitCode RenderAll(Session& session, const v1::VideoSpec& spec, const RenderFlags& flags) {
  if (flags.output == "-") {
    session.console.Error("error: several videos do not go to stdout: -o FILE.mp4\n");
    return ExitCode::kUsage;
  }
  v1::CreateVideoRequest request;
  *request.mutable_spec() = spec;
  flags.job.Fill(request);
  request.set_count(flags.count.value());
  SeveralOptions options;
  options.detach = flags.detach;
  options.profile = flags.profile;
  options.stem = flags.output.empty() ? DefaultOutput() : flags.output;
  options.stem = std::filesystem::path(options.stem).replace_extension().string();
  return RenderSeveral(session, request, options);
}

std::string Summary(const v1::Video& video) {
  const v1::VideoSpec& spec = video.spec();
  const bool is_told = video.media().width() > 0;  // a draft's are not those of the spec
  const int width = is_told ? video.media().width() : spec.width();
  const int height = is_told ? video.media().height() : spec.height();
  return absl::StrCat(
      video.name(), ": ", spec.num_frames(), " frames of ", width, "x", height, ", seed ",
      spec.seed(), ", ", HumanBytes(video.media().size_bytes()),
      video.stats().has_total() ? ", in " + HumanDuration(FromProto(video.stats().total())) : "");
}

ExitCode Finish(Session& session, const v1::Video& video, const std::string& output) {
  if (session.console.live()) session.console.Notice(Summary(video));
  if (output == "-") return ExitCode::kOk;
  const std::string json =
      absl::StrCat("{\"video\":", JsonOf(video), ",\"path\":", JsonString(output), "}\n");
  session.console.Print(session.json ? json : output + "\n");
  return ExitCode::kOk;
}

absl::Status WriteTrace(const Followed& followed, const std::string& path) {
  // The request was stored when this event came.
  absl::Duration until_end = followed.since_accepted;
  for (const v1::PartTime& part : followed.video->stats().parts()) {
    if (part.part() == v1::RUN_PART_ACCEPT) until_end += FromProto(part.time());
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if ((file << ChromeTrace(*followed.video, until_end)).flush()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("Cannot write the trace: ", path, "."));
}

ExitCode FinishFailed(Session& session, const Followed& followed, const RenderFlags& flags) {
  if (followed.signal != 0) {
    if (session.json) session.Fail(absl::CancelledError("Interrupted."));
    const char* what =
        flags.detach ? " keeps running; follow it with `reel watch`" : " was cancelled";
    if (!followed.name.empty()) session.console.Notice(followed.name + what);
    return static_cast<ExitCode>(128 + followed.signal);
  }
  const ExitCode code = session.Fail(followed.video.status());
  if (!followed.name.empty()) session.console.Notice("video: " + followed.name);
  return code;
}

// Called with the video and the path of its file, before a bill is printed.
using Then = std::function<void(const v1::Video& video, const std::string& path)>;

ExitCode Render(Session& session, const absl::StatusOr<v1::VideoSpec>& spec,
                const RenderFlags& flags, const Then& then = nullptr) {
  if (const auto refused = session.RefuseStdout(flags.output)) return *refused;
  if (!spec.ok()) return session.Fail(spec.status());
  if (flags.count.value() > 0) return RenderAll(session, *spec, flags);
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = *spec;
  flags.job.Fill(request);
  request.set_detached(flags.detach);
  FollowOptions options;
  options.output = flags.output.empty() ? DefaultOutput() : flags.output;
  options.preview_dir = flags.preview_dir;
  options.cancel_on_interrupt = !flags.detach;
  const Followed followed = Follow(session, std::move(request), options);
  if (!followed.video.ok()) return FinishFailed(session, followed, flags);
  const ExitCode code = Finish(session, *followed.video, options.output);
  if (then != nullptr) then(*followed.video, options.output);
  // Not to stdout, which carries the path or the video.
  if (flags.profile && !session.json) {
    const std::string bill = DescribeBill(followed.video->stats());
    session.console.Error(bill.empty() ? "This server does not report where the time went.\n"
                                       : bill);
  }
  if (flags.trace.empty()) return code;
  const absl::Status traced = WriteTrace(followed, flags.trace);
  return traced.ok() ? code : session.Fail(traced);
}

// Renders the video of a file again, and compares the two files.
ExitCode RenderAgain(Session& session, const std::string& path, const SpecFlags& spec,
                     const RenderFlags& flags) {
  const auto before = ReadFileBefore(path);
  if (!before.ok()) return session.Fail(before.status());
  const auto given = spec.SpecOver(before->origin.spec, session);
  if (!given.ok()) return session.Fail(given.status());
  const bool is_other = given->ByteSizeLong() > 0;
  return Render(session, SpecAgain(*before, *given), flags,
                [&](const v1::Video& video, const std::string& output) {
                  const absl::StatusOr<Origin> now =
                      output == "-" ? absl::NotFoundError("stdout") : ReadOrigin(output);
                  const std::string text = CompareAgain(*before, video, now, is_other);
                  if (!text.empty()) session.console.Notice("note: " + text);
                });
}

}  // namespace

void AddGenerate(CLI::App& app, Action& action) {
  struct Flags {
    SpecFlags spec;
    RenderFlags render;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand("generate", "Render a video and write its file");
  flags->spec.AddTo(command);
  flags->render.AddTo(command);
  CLI::Option* previews = command.add_option("--preview-dir", flags->render.preview_dir,
                                             "Folder for the preview pictures");
  command.get_option("--preview-every")->needs(previews);
  previews->needs(command.get_option("--preview-every"));
  flags->render.count.AddTo(command,
                            "So many videos, with seeds that follow each other: FILE-1.mp4 and so "
                            "on, and a contact sheet, FILE.png");
  command.get_option("--count")->excludes(previews)->excludes(command.get_option("--trace"));
  command.callback([flags, &action] {
    action = [flags](Session& session) {
      return Render(session, flags->spec.Spec(session), flags->render);
    };
  });
}

void AddPromote(CLI::App& app, Action& action) {
  struct Flags {
    std::string video;
    bool keep_state = false;
    RenderFlags render;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand(
      "promote", "Make a draft large: the passes that `reel generate --draft` left out");
  command.add_option("video", flags->video, "Name of the draft: videos/...")->required();
  command.add_flag("--keep-state", flags->keep_state, kKeepState);
  flags->render.AddTo(command);
  command.callback([flags, &action] {
    action = [flags](Session& session) {
      v1::VideoSpec spec;
      spec.mutable_source()->set_video(FullName(flags->video));
      spec.mutable_source()->mutable_promote();
      if (flags->keep_state) spec.set_keep_state(true);
      return Render(session, spec, flags->render);
    };
  });
}

void AddAgain(CLI::App& app, Action& action) {
  struct Flags {
    std::string file;
    SpecFlags spec;
    RenderFlags render;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand(
      "again", "Make the video of a file anew that says how it was made (--origin spec)");
  command.add_option("file", flags->file, "An MP4 of `reel generate --origin spec`")->required();
  flags->spec.AddTo(command, SpecUse::kAgain);
  flags->render.AddTo(command);
  command.callback([flags, &action] {
    action = [flags](Session& session) {
      return RenderAgain(session, flags->file, flags->spec, flags->render);
    };
  });
}

namespace {

// A video that another one goes on from, and what the new one is to be.
struct GoOnFlags {
  std::string video, prompt, preset;
  std::optional<uint64_t> seed;
  int steps = 0;
  bool keep_state = false;
  RenderFlags render;

  void AddTo(CLI::App& command);
  v1::VideoSpec Spec() const;
};

void GoOnFlags::AddTo(CLI::App& command) {
  command.add_option("video", video, "Name of the video, which has kept its state: videos/...")
      ->required();
  command.add_option("prompt", prompt, "Text that describes the new part; default: the video's");
  command.add_option("--preset", preset, "A preset of one pass; default: as the video was made")
      ->check(WhyEmpty);
  command.add_option("--steps,--num-inference-steps", steps, "Denoising steps")
      ->check(WhyNotAboveZero);
  command.add_option("--seed", seed, "The server picks one if left out")->check(WhyNotSeed);
  command.add_flag("--keep-state", keep_state, kKeepState);
  render.AddTo(command);
}

v1::VideoSpec GoOnFlags::Spec() const {
  v1::VideoSpec spec;
  spec.set_prompt(prompt);
  spec.set_preset(preset);
  spec.set_num_inference_steps(steps);
  if (seed) spec.set_seed(*seed);
  if (keep_state) spec.set_keep_state(true);
  spec.mutable_source()->set_video(FullName(video));
  return spec;
}

}  // namespace

void AddExtend(CLI::App& app, Action& action) {
  struct Flags {
    GoOnFlags go_on;
    int frames = 0, overlap = 0;
    bool join = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand(
      "extend", "Go on behind a video: a clip that begins with its last frames");
  flags->go_on.AddTo(command);
  command.add_option("--frames", flags->frames, "New frames, 8k for LTX-Video")
      ->required()
      ->check(WhyNotAboveZero);
  command
      .add_option("--overlap", flags->overlap,
                  "So many of its last frames come first, 8k + 1; default 25")
      ->check(WhyNotAboveZero);
  command.add_flag("--join", flags->join, "One file: that video's, and the new frames behind it");
  command.callback([flags, &action] {
    action = [flags](Session& session) {
      v1::VideoSpec spec = flags->go_on.Spec();
      v1::Extend& extend = *spec.mutable_source()->mutable_extend();
      extend.set_num_frames(flags->frames);
      extend.set_overlap_frames(flags->overlap);
      extend.set_join(flags->join);
      return Render(session, spec, flags->go_on.render);
    };
  });
}

void AddRetake(CLI::App& app, Action& action) {
  struct Flags {
    GoOnFlags go_on;
    double from = 0, to = 0;
    bool keep_pictures = false, keep_sound = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App& command =
      *app.add_subcommand("retake", "Make a stretch of a video anew, and hold the rest as it is");
  flags->go_on.AddTo(command);
  const CLI::Range seconds(0.0, kMostRetakeSeconds);
  command.add_option("--from", flags->from, "Seconds; default 0")->check(seconds);
  command.add_option("--to", flags->to, "Seconds, at most the video's length")
      ->required()
      ->check(seconds);
  command.add_flag("--keep-sound", flags->keep_sound, "Make only the pictures of the stretch anew")
      ->excludes(command.add_flag("--keep-pictures", flags->keep_pictures,
                                  "Make only the sound of the stretch anew"));
  command.callback([flags, &action] {
    action = [flags](Session& session) {
      v1::VideoSpec spec = flags->go_on.Spec();
      v1::Retake& retake = *spec.mutable_source()->mutable_retake();
      *retake.mutable_begin() = ToProto(absl::Seconds(flags->from));
      *retake.mutable_end() = ToProto(absl::Seconds(flags->to));
      retake.set_keep_pictures(flags->keep_pictures);
      retake.set_keep_sound(flags->keep_sound);
      return Render(session, spec, flags->go_on.render);
    };
  });
}

namespace {

// The API wants a prompt; a clip says most of what it would.
constexpr char kRefinementPrompt[] = "a sharp, detailed video";

absl::StatusOr<v1::VideoSpec> RefinementOf(const std::string& clip, const SpecFlags& flags,
                                           Session& session) {
  auto spec = flags.Spec(session);
  if (!spec.ok()) return spec;
  if (spec->prompt().empty()) spec->set_prompt(kRefinementPrompt);
  session.conditions.push_back(clip);
  const absl::Status added = AddRefinedClip(session, clip, *spec);
  return added.ok() ? spec : added;
}

}  // namespace

void AddRefine(CLI::App& app, Action& action) {
  struct Flags {
    std::string clip;
    SpecFlags spec;
    RenderFlags render;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand(
      "refine", "Make a clip of any origin large: the second pass of a preset of two refines it");
  command
      .add_option("clip", flags->clip,
                  "An MP4; without flags twice its size, its rate and its length; its sound is "
                  "carried over")
      ->required()
      ->check(WhyEmpty);
  flags->spec.AddTo(command, SpecUse::kRefine);
  flags->render.AddTo(command);
  command.callback([flags, &action] {
    action = [flags](Session& session) {
      return Render(session, RefinementOf(flags->clip, flags->spec, session), flags->render);
    };
  });
}

}  // namespace reel::client
