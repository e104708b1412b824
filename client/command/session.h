// SPDX-License-Identifier: Apache-2.0
// The client, console and signals that every command of `reel` shares, and its exit.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/client_options.h"
#include "client/command/console.h"
#include "client/command/exit_code.h"
#include "client/video_client.h"
#include "google/protobuf/message.h"

namespace reel::client {

struct Session {
  ClientOptions options;
  Console& console;
  bool json = false;
  std::string version;  // of this program
  std::string folder;   // its folder; empty: unknown
  std::string browser;  // the command that opens a link
  // For errors, of each condition that is sent: its flag and file, or its file alone.
  std::vector<std::string> conditions = {};

  // Files that are large are described, not sent: the request is only quoted.
  bool only_quotes = false;

  // A client that shows its retries on the terminal.
  absl::StatusOr<std::unique_ptr<VideoClient>> Open();
  // Prints an error for people or, with --json, for scripts.
  ExitCode Fail(const absl::Status& status);
  // For a command that writes a video to `output`: reports a usage error if "-" is not possible.
  std::optional<ExitCode> RefuseStdout(const std::string& output);
  // Prints a result: `text` for people, the message with --json.
  ExitCode Show(const google::protobuf::Message& message, const std::string& text);
};

// The action of a command line; run once, after parsing.
using Action = std::function<ExitCode(Session&)>;

// "videos/abc" for "abc"; a name with a slash is unchanged.
std::string FullName(const std::string& name);

}  // namespace reel::client
