// SPDX-License-Identifier: Apache-2.0
#include "client/command/session.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/command/error_report.h"
#include "client/command/json_output.h"
#include "client/command/quantity.h"
#include "client/error_details.h"

namespace reel::client {

absl::StatusOr<std::unique_ptr<VideoClient>> Session::Open() {
  options.retry.on_retry = [this](const absl::Status& why, absl::Duration pause) {
    const std::string reason = DetailsOf(why).reason;
    const std::string line = absl::StrCat(
        reason.empty() ? "no answer from " + options.server : "the server is busy (" + reason + ")",
        "; trying again in ", HumanDuration(pause));
    console.Progress([&](int width) { return line.substr(0, static_cast<size_t>(width) - 1); },
                     true);
  };
  return VideoClient::Open(options);
}

ExitCode Session::Fail(const absl::Status& status) {
  if (json) console.Print(ErrorJson(status) + "\n");
  if (!json || !console.quiet()) {
    console.Error(ReportError(status, {options.server, conditions}, console.color()));
  }
  return ExitCodeOf(status);
}

std::optional<ExitCode> Session::RefuseStdout(const std::string& output) {
  if (output != "-" || (!json && !console.out_is_terminal())) return std::nullopt;
  console.Error(json ? "error: --json and -o - both write to stdout; use one of them\n"
                     : "error: -o - writes the video's bytes to stdout, which is a terminal\n"
                       "hint: redirect it, or name a file: -o video.mp4\n");
  return ExitCode::kUsage;
}

ExitCode Session::Show(const google::protobuf::Message& message, const std::string& text) {
  console.Print(json ? JsonOf(message) + "\n" : text);
  return ExitCode::kOk;
}

std::string FullName(const std::string& name) {
  return absl::StrContains(name, '/') ? name : absl::StrCat("videos/", name);
}

}  // namespace reel::client
