// SPDX-License-Identifier: Apache-2.0
#include "client/command/neighbour.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"

namespace reel::client {
namespace {

// Keeps a child's output in memory, so that the child never waits for us to read.
class Page {
 public:
  Page() : descriptor_(memfd_create("reel", MFD_CLOEXEC)) {}
  ~Page() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  int descriptor() const { return descriptor_; }
  std::string Text() const {
    std::string text;
    char piece[4096];
    for (;;) {
      const ssize_t got = pread(descriptor_, piece, sizeof piece, static_cast<off_t>(text.size()));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return text;
      text.append(piece, static_cast<size_t>(got));
    }
  }

 private:
  const int descriptor_;
};

// Its pid, or an error.
absl::StatusOr<pid_t> Spawn(std::vector<std::string> words, const Page& out, const Page& errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.descriptor(), 1);
  posix_spawn_file_actions_adddup2(&actions, errors.descriptor(), 2);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return absl::ErrnoToStatus(error, absl::StrCat(words[0], " cannot be started"));
  return pid;
}

}  // namespace

absl::StatusOr<NeighbourAnswer> AskNeighbour(const std::string& folder, const std::string& name,
                                             const std::vector<std::string>& arguments) {
  const std::string program = absl::StrCat(folder, "/", name);
  std::error_code ignored;
  if (folder.empty() || !std::filesystem::exists(program, ignored)) {
    return absl::NotFoundError(
        absl::StrCat("The program ", name, " is not installed beside reel."));
  }
  const Page out, errors;
  if (out.descriptor() < 0 || errors.descriptor() < 0) {
    return absl::ErrnoToStatus(errno, "Cannot buffer a program's output");
  }
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const auto pid = Spawn(std::move(words), out, errors);
  if (!pid.ok()) return pid.status();
  int status = 0;
  while (waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  const int exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return NeighbourAnswer{exit_code, out.Text(), errors.Text()};
}

}  // namespace reel::client
