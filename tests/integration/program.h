// SPDX-License-Identifier: Apache-2.0
// A built program as a child of the test, with what it printed.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/fakes/temp_folder.h"

namespace reel::tests {

// Long enough for a sanitizer's build on a busy machine: whoever waits that long has failed.
constexpr absl::Duration kPatience = absl::Seconds(60);

// Calls `condition` until it holds; false after `timeout`. For what only another process can tell.
bool Eventually(const std::function<bool()>& condition, absl::Duration timeout = kPatience);

// The path of a program of this build: in the folder REEL_BIN, or in that beside the test's own.
std::string BinaryPath(const std::string& name);

// Whether those programs are a sanitizer's: slower, with books of its own in their memory. The test
// itself may be none (REEL_INTEGRATION_PROGRAMS).
bool ProgramsAreSanitized();

// Confined to the test's thread, but for Signal.
class Program {
 public:
  // `arguments` without the program's own name. A path is taken as it is, another name is looked up
  // in PATH. Fails the test when it cannot be started.
  Program(const std::string& path, std::vector<std::string> arguments);
  // Kills what is left.
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  void Signal(int number) const;
  bool Alive();
  // Its exit status, or minus the signal that ended it; DEADLINE_EXCEEDED while it still runs.
  absl::StatusOr<int> WaitForExit(absl::Duration timeout = kPatience);

  // What it has printed so far.
  std::string Out() const { return folder_.Read("out"); }
  std::string Errors() const { return folder_.Read("errors"); }

 private:
  testing::TempFolder folder_;
  pid_t pid_ = -1;
  std::optional<int> status_;
};

struct ProgramResult {
  int status = -1;  // as WaitForExit; -1 also when it did not end
  std::string out, errors;
  absl::Duration took;
};
ProgramResult RunProgram(const std::string& path, std::vector<std::string> arguments);

}  // namespace reel::tests
