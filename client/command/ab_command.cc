// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "client/command/arm.h"
#include "client/command/arm_runner.h"
#include "client/command/commands.h"
#include "client/command/comparison_text.h"
#include "client/command/pair_verdict.h"
#include "client/command/spec_flags.h"
#include "client/command/value_flags.h"

namespace reel::client {
namespace {

struct AbFlags {
  SpecFlags spec;
  std::string a, b;
  int pairs = 40;
  std::optional<absl::Duration> timeout;
};

// A temporary folder for the two videos that are compared.
absl::StatusOr<std::string> ScratchFolder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string name = (parent / "reel-ab-XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr) {
    return absl::InvalidArgumentError("Cannot make a temporary folder: " + parent.string());
  }
  return name;
}

// Renders each arm once, uncounted: loading and tuning happen here, and these pictures are
// compared.
absl::Status WarmUp(Session& session, ArmRunner& runner, const Arm& a, const Arm& b,
                    AbReport& report) {
  const auto folder = ScratchFolder();
  if (!folder.ok()) return folder.status();
  const absl::Cleanup remove = [&folder] {
    std::error_code ignored;
    std::filesystem::remove_all(*folder, ignored);
  };
  const FramesRequest files = {*folder + "/a.mp4", *folder + "/b.mp4", ""};
  auto video_a = runner.Render(a, files.a, "warming up A");
  if (!video_a.ok()) return video_a.status();
  auto video_b = runner.Render(b, files.b, "warming up B");
  if (!video_b.ok()) return video_b.status();
  report.videos.a = *std::move(video_a);
  report.videos.b = *std::move(video_b);
  const auto distance = AskFrames(session.folder, files);
  if (distance.ok()) {
    report.distance = *distance;
  } else {
    session.console.Notice(std::string(distance.status().message()));
  }
  return absl::OkStatus();
}

// A then B, or B then A, so that drift favours neither arm. Returns nothing if a render shared all
// of its steps with other videos.
absl::StatusOr<std::optional<StepPair>> RenderPair(ArmRunner& runner, const Arm& a, const Arm& b,
                                                   const std::string& number, bool b_first) {
  std::optional<double> seconds[2];
  for (const bool is_b : {b_first, !b_first}) {
    const auto video =
        runner.Render(is_b ? b : a, "", absl::StrCat("pair ", number, ", ", is_b ? "B" : "A"));
    if (!video.ok()) return video.status();
    seconds[is_b ? 1 : 0] = StepSeconds(video->stats());
  }
  if (!seconds[0] || !seconds[1]) return std::nullopt;
  return StepPair{*seconds[0], *seconds[1]};
}

ExitCode Ab(Session& session, const AbFlags& flags) {
  const auto a = ParseArm(flags.a), b = ParseArm(flags.b);
  auto spec = flags.spec.Spec(session);
  if (!spec.ok()) return session.Fail(spec.status());
  ArmRunner runner(session, *std::move(spec), flags.timeout);
  AbReport report;
  report.videos.name_a = a->text;
  report.videos.name_b = b->text;
  const absl::Status warm = WarmUp(session, runner, *a, *b, report);
  if (!warm.ok()) return runner.Failed(warm);
  for (int i = 0; i < flags.pairs; ++i) {
    const auto pair =
        RenderPair(runner, *a, *b, absl::StrCat(i + 1, " of ", flags.pairs), i % 2 == 1);
    if (!pair.ok()) return runner.Failed(pair.status());
    if (*pair) report.pairs.push_back(**pair);
  }
  const auto left_out = static_cast<size_t>(flags.pairs) - report.pairs.size();
  if (left_out > 0) {
    session.console.Notice(absl::StrCat("left out: ", left_out,
                                        " pairs whose steps were shared with other videos, or "
                                        "whose times the server does not report"));
  }
  const auto ran_a = VariantsThatRan(report.videos.a.stats());
  report.result = Judge(report.pairs, ran_a == VariantsThatRan(report.videos.b.stats()));
  session.console.Print(session.json ? AbJson(report) : AbText(report));
  return report.result.has_verdict() ? ExitCode::kOk : ExitCode::kNoVerdict;
}

std::string WhyNotArm(const std::string& text) {
  const auto arm = ParseArm(text);
  return arm.ok() ? "" : std::string(arm.status().message());
}

}  // namespace

void AddAb(CLI::App& app, Action& action) {
  auto flags = std::make_shared<AbFlags>();
  CLI::App& command = *app.add_subcommand(
      "ab", "Test whether one choice of kernels is faster than another; exit code 11: no verdict");
  flags->spec.AddTo(command, SpecUse::kComparison);
  command.add_option("--a", flags->a, "A profile, then single variants over it: fp8+rms_norm=sm80")
      ->type_name("ARM")
      ->required()
      ->check(WhyNotArm);
  command.add_option("--b", flags->b, "The arm that A is compared with")
      ->type_name("ARM")
      ->required()
      ->check(WhyNotArm);
  command.add_option("-n,--pairs", flags->pairs, "How often each arm renders the video")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  AddDuration(command, "--timeout", flags->timeout, "Deadline of each render: 90, 90s, 5m");
  command.callback(
      [flags, &action] { action = [flags](Session& session) { return Ab(session, *flags); }; });
}

}  // namespace reel::client
