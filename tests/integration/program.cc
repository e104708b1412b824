// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "absl/time/clock.h"

extern char** environ;

namespace reel::tests {

bool Eventually(const std::function<bool()>& condition, absl::Duration timeout) {
  const absl::Time end = absl::Now() + timeout;
  while (!condition()) {
    if (absl::Now() > end) return false;
    absl::SleepFor(absl::Milliseconds(5));
  }
  return true;
}

std::string BinaryPath(const std::string& name) {
  if (const char* const folder = std::getenv("REEL_BIN")) return std::string(folder) + "/" + name;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  return self.parent_path().parent_path() / "bin" / name;
}

bool ProgramsAreSanitized() {
  const char* const told = std::getenv("REEL_SANITIZED");
  if (told != nullptr) return std::string_view(told) == "1";
  // Started by hand: the programs beside it are of its own build.
#if defined(__SANITIZE_ADDRESS__) || defined(_GLIBCXX_TSAN)
  return true;
#else
  return false;
#endif
}

Program::Program(const std::string& path, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), path);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const auto redirect = [&](int descriptor, const std::string& file, int flags) {
    posix_spawn_file_actions_addopen(&actions, descriptor, file.c_str(), flags, 0600);
  };
  redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
  redirect(STDOUT_FILENO, folder_.File("out"), O_WRONLY | O_CREAT);
  redirect(STDERR_FILENO, folder_.File("errors"), O_WRONLY | O_CREAT);
  const int error = ::posix_spawnp(&pid_, path.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return;
  ADD_FAILURE() << "cannot start " << path << ": " << std::strerror(error);
  pid_ = -1;
  status_ = -1;
}

Program::~Program() {
  if (!Alive()) return;
  Signal(SIGKILL);
  WaitForExit().IgnoreError();
}

void Program::Signal(int number) const {
  if (!status_) ::kill(pid_, number);
}

bool Program::Alive() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    status_ = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }
  return !status_;
}

absl::StatusOr<int> Program::WaitForExit(absl::Duration timeout) {
  if (Eventually([&] { return !Alive(); }, timeout)) return *status_;
  return absl::DeadlineExceededError("the program still runs");
}

ProgramResult RunProgram(const std::string& path, std::vector<std::string> arguments) {
  const absl::Time start = absl::Now();
  Program program(path, std::move(arguments));
  const auto status = program.WaitForExit();
  EXPECT_TRUE(status.ok()) << path << " did not end: " << program.Errors();
  return {status.value_or(-1), program.Out(), program.Errors(), absl::Now() - start};
}

}  // namespace reel::tests
