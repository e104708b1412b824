// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "client/command/arm.h"
#include "client/command/arm_runner.h"
#include "client/command/commands.h"
#include "client/command/comparison_text.h"
#include "client/command/frames_program.h"
#include "client/command/json_output.h"
#include "client/command/spec_flags.h"
#include "client/command/value_flags.h"
#include "kernels/base/program/flag_checks.h"

namespace reel::client {
namespace {

struct CompareFlags {
  SpecFlags spec;
  std::string arms;
  std::string output;
  std::optional<absl::Duration> timeout;
};

struct Compared {
  ArmVideos videos;
  FramesRequest files;
  absl::StatusOr<FrameDistance> distance;
};

std::string DefaultStem() {
  return absl::StrCat("reel-compare-",
                      absl::FormatTime("%Y%m%d-%H%M%S", absl::Now(), absl::LocalTimeZone()));
}

// The first render of each arm loads and tunes; its times are ignored.
absl::Status RenderBoth(ArmRunner& runner, const Arm& a, const Arm& b, Compared& out) {
  for (const bool first : {true, false}) {
    const std::string what = first ? "rendering " : "timing ";
    auto video_a = runner.Render(a, first ? out.files.a : "", what + a.text);
    if (!video_a.ok()) return video_a.status();
    auto video_b = runner.Render(b, first ? out.files.b : "", what + b.text);
    if (!video_b.ok()) return video_b.status();
    out.videos.a = *std::move(video_a);
    out.videos.b = *std::move(video_b);
  }
  return absl::OkStatus();
}

void Print(Session& session, const Compared& compared) {
  const bool known = compared.distance.ok();
  const std::optional<FrameDistance> distance =
      known ? std::make_optional(*compared.distance) : std::nullopt;
  if (session.json) {
    std::string pictures;
    if (known) {
      pictures =
          absl::StrCat(R"(,"sheet":)", JsonString(compared.files.sheet), R"(,"ssim":)",
                       distance->ssim, R"(,"identical":)", distance->psnr_db ? "false" : "true");
      if (distance->psnr_db) absl::StrAppend(&pictures, R"(,"psnrDb":)", *distance->psnr_db);
    }
    session.console.Print(absl::StrCat(R"({"a":)", JsonOf(compared.videos.a), R"(,"b":)",
                                       JsonOf(compared.videos.b), R"(,"paths":[)",
                                       JsonString(compared.files.a), ",",
                                       JsonString(compared.files.b), "]", pictures, "}\n"));
    return;
  }
  std::string text = CompareBills(compared.videos);
  absl::StrAppend(&text, "\npictures ", known ? DistanceText(*distance) : "unknown", "\n",
                  DistanceWarning(compared.videos, distance), compared.files.a, "\n",
                  compared.files.b, "\n");
  if (known) absl::StrAppend(&text, compared.files.sheet, "\n");
  absl::StrAppend(&text,
                  "Times are of one render each; `reel ab` tells a difference from noise.\n");
  session.console.Print(text);
}

ExitCode Compare(Session& session, const CompareFlags& flags) {
  const std::vector<std::string> texts = absl::StrSplit(flags.arms, ',');
  const auto a = ParseArm(texts.front()), b = ParseArm(texts.back());
  auto spec = flags.spec.Spec(session);
  if (!spec.ok()) return session.Fail(spec.status());
  const std::string stem = flags.output.empty() ? DefaultStem() : flags.output;
  Compared compared;
  compared.videos.name_a = a->text;
  compared.videos.name_b = b->text;
  compared.files = {stem + "-a.mp4", stem + "-b.mp4", stem + ".png"};
  ArmRunner runner(session, *std::move(spec), flags.timeout);
  const absl::Status rendered = RenderBoth(runner, *a, *b, compared);
  if (!rendered.ok()) return runner.Failed(rendered);
  compared.distance = AskFrames(session.folder, compared.files);
  if (!compared.distance.ok()) {
    session.console.Notice(std::string(compared.distance.status().message()));
  }
  Print(session, compared);
  return ExitCode::kOk;
}

std::string WhyNotTwoArms(const std::string& text) {
  const std::vector<std::string> arms = absl::StrSplit(text, ',');
  if (arms.size() != 2) return "\"" + text + "\" is not A,B: two arms";
  for (const std::string& arm : arms) {
    if (const auto parsed = ParseArm(arm); !parsed.ok()) {
      return std::string(parsed.status().message());
    }
  }
  return "";
}

}  // namespace

void AddCompare(CLI::App& app, Action& action) {
  auto flags = std::make_shared<CompareFlags>();
  CLI::App& command = *app.add_subcommand(
      "compare", "Render a video with two choices of kernels, and show both side by side");
  flags->spec.AddTo(command, SpecUse::kComparison);
  command
      .add_option("--kernels", flags->arms,
                  "The two choices: a profile each, then single variants over it, as in "
                  "auto,auto+rms_norm=loops")
      ->type_name("A,B")
      ->required()
      ->check(WhyNotTwoArms);
  command
      .add_option("-o,--output", flags->output,
                  "Write STEM-a.mp4, STEM-b.mp4 and STEM.png; default reel-compare-DATE-TIME")
      ->type_name("STEM")
      ->check(WhyEmpty);
  AddDuration(command, "--timeout", flags->timeout, "Deadline of each render: 90, 90s, 5m");
  command.callback([flags, &action] {
    action = [flags](Session& session) { return Compare(session, *flags); };
  });
}

}  // namespace reel::client
