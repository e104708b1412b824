// SPDX-License-Identifier: Apache-2.0
// The client, console and signals that every command of `reel` uses, and its exit.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

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
  std::string folder;   // where it lies; empty: not known
  std::string browser;  // what opens a link

  // A client whose retries are told on the terminal.
  absl::StatusOr<std::unique_ptr<VideoClient>> Open();
  // Reports an error as people or, with --json, scripts want it.
  ExitCode Fail(const absl::Status& status);
  // Of a command that writes a video to `output`: a usage error, reported, where "-" cannot be.
  std::optional<ExitCode> RefuseStdout(const std::string& output);
  // Prints a result: `text` for people, the message with --json.
  ExitCode Show(const google::protobuf::Message& message, const std::string& text);
};

// What a command line asks for; run once, after parsing.
using Action = std::function<ExitCode(Session&)>;

// "videos/abc" for "abc"; anything with a slash as it is.
std::string FullName(const std::string& name);

}  // namespace reel::client
