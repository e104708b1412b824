// SPDX-License-Identifier: Apache-2.0
#include "server/front/workers/launcher.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/program_folder.h"
#include "kernels/base/status_macros.h"
#include "server/front/workers/file_descriptor.h"
#include "server/logging/line_splitter.h"
#include "server/logging/log.h"

namespace reel::front {

std::string MakeToken() {
  std::array<char, 32> bytes;
  // Cannot fail for so few bytes once the system is up; without randomness there is no safe way on.
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
  return absl::BytesToHexString({bytes.data(), bytes.size()});
}

bool TokensEqual(std::string_view a, std::string_view b) {
  return !a.empty() && a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

namespace {

constexpr int kTokenFd = 3;  // in the child
// Above every number that a child's descriptors get, so that no dup2 there overwrites another.
constexpr int kLowestOwnFd = 10;

struct Pipe {
  FileDescriptor read, write;
};

absl::Status Failed(const char* what, int error) {
  return absl::UnavailableError(absl::StrCat(what, ": ", strerror(error)));
}

absl::StatusOr<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Failed("Cannot make a pipe for a worker", errno);
  const FileDescriptor low_read(ends[0]), low_write(ends[1]);
  Pipe pipe{FileDescriptor(fcntl(low_read.get(), F_DUPFD_CLOEXEC, kLowestOwnFd)),
            FileDescriptor(fcntl(low_write.get(), F_DUPFD_CLOEXEC, kLowestOwnFd))};
  if (!pipe.read || !pipe.write) return Failed("Cannot make a pipe for a worker", errno);
  return pipe;
}

// What a worker is given where the user chose nothing of the kind.
struct Default {
  const char* name;
  const char* value;
  const char* or_by = nullptr;  // a variable that chooses it, too
};
constexpr Default kDefaults[] = {
    // Threads of libgomp that spin for milliseconds for one another take the cores from what they
    // wait for as soon as anything else runs beside them.
    {"GOMP_SPINCOUNT", "1000", "OMP_WAIT_POLICY"},
    // Memory that the C library gives back after each tensor comes again a page at a time, which
    // costs more than what is computed there. So tensors below 32 MiB come from the heap, and of
    // its end 256 MiB stay.
    {"MALLOC_MMAP_THRESHOLD_", "33554432"},
    {"MALLOC_TRIM_THRESHOLD_", "268435456"},
};

std::vector<std::string> WorkerEnvironment() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  const auto has = [chosen = variables](const char* name) {
    return name != nullptr && std::any_of(chosen.begin(), chosen.end(), [&](const auto& variable) {
             return absl::StartsWith(variable, absl::StrCat(name, "="));
           });
  };
  for (const Default& setting : kDefaults) {
    if (has(setting.name) || has(setting.or_by)) continue;
    variables.push_back(absl::StrCat(setting.name, "=", setting.value));
  }
  return variables;
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

absl::StatusOr<pid_t> Spawn(const std::vector<std::string>& arguments, int token_read,
                            int log_write) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  absl::Cleanup free_actions = [&] { posix_spawn_file_actions_destroy(&actions); };
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, log_write, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, log_write, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, token_read, kTokenFd);
  posix_spawn_file_actions_addclosefrom_np(&actions, kTokenFd + 1);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  absl::Cleanup free_attributes = [&] { posix_spawnattr_destroy(&attributes); };
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  const std::vector<std::string> environment = WorkerEnvironment();
  std::vector<char*> argv = Pointers(arguments), envp = Pointers(environment);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), envp.data());
  if (error != 0) return Failed(absl::StrCat("Cannot start ", arguments[0]).c_str(), error);
  return pid;
}

class ProcessLauncher final : public WorkerLauncher {
 public:
  explicit ProcessLauncher(ProcessLauncherOptions options)
      : options_(std::move(options)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  // The supervisor has killed and waited for all; this is for the way out of a failed start.
  ~ProcessLauncher() override {
    for (const auto& [pid, child] : children_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }

  absl::StatusOr<int64_t> Launch(const LaunchRequest& request) override {
    REEL_ASSIGN_OR_RETURN(Pipe token, MakePipe());
    REEL_ASSIGN_OR_RETURN(Pipe log, MakePipe());
    fcntl(log.read.get(), F_SETFL, O_NONBLOCK);
    // Far below a pipe's capacity: does not block.
    if (write(token.write.get(), request.token.data(), request.token.size()) !=
        static_cast<ssize_t>(request.token.size())) {
      return Failed("Cannot hand a worker its token", errno);
    }
    token.write.Close();
    std::vector<std::string> arguments = {options_.binary,
                                          "--socket=" + request.socket,
                                          "--name=" + request.worker,
                                          "--device=" + request.device,
                                          absl::StrCat("--parent_pid=", getpid()),
                                          absl::StrCat("--token_fd=", kTokenFd)};
    arguments.insert(arguments.end(), options_.extra_arguments.begin(),
                     options_.extra_arguments.end());
    REEL_ASSIGN_OR_RETURN(const pid_t pid, Spawn(arguments, token.read.get(), log.write.get()));
    children_[pid] = {request.worker, std::move(log.read), {}};
    return int64_t{pid};
  }

  void Kill(int64_t id) override {
    const auto pid = static_cast<pid_t>(id);
    if (children_.contains(pid)) kill(pid, SIGKILL);
  }

  std::vector<WorkerExit> Wait(absl::Duration timeout) override {
    std::vector<pollfd> watched = {{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
    for (const auto& [pid, child] : children_) {
      if (child.log) {
        watched.push_back({.fd = child.log.get(), .events = POLLIN, .revents = 0});
      } else {
        // Its output has ended, so it is about to.
        timeout = std::min(timeout, absl::Milliseconds(10));
      }
    }
    poll(watched.data(), watched.size(),
         static_cast<int>(absl::ToInt64Milliseconds(absl::Ceil(timeout, absl::Milliseconds(1)))));
    uint64_t wakes = 0;
    while (read(wake_.get(), &wakes, sizeof wakes) > 0) {
    }
    for (auto& [pid, child] : children_) ForwardLog(child);
    return Reap();
  }

  void Wake() override {
    const uint64_t one = 1;
    // Fails only when the counter is full, and then a wake is due anyway.
    [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof one);
  }

 private:
  struct Child {
    std::string worker;
    FileDescriptor log;
    LineSplitter lines;
  };

  static void ForwardLog(Child& child) {
    const auto forward = [&](std::string_view line) { LogForwarded(child.worker, line); };
    std::array<char, 8192> buffer;
    // Bounded, so that one that prints without end cannot hold the supervisor.
    for (int round = 0; round < 16 && child.log; ++round) {
      const ssize_t size = read(child.log.get(), buffer.data(), buffer.size());
      if (size > 0) {
        child.lines.Add({buffer.data(), static_cast<size_t>(size)}, forward);
      } else if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
        child.lines.End(forward);
        child.log.Close();
      } else {
        return;
      }
    }
  }

  std::vector<WorkerExit> Reap() {
    std::vector<WorkerExit> exits;
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto child = children_.find(pid);
      if (child == children_.end()) continue;  // an orphan that became ours
      ForwardLog(child->second);
      children_.erase(child);
      WorkerExit exit{.id = pid, .status = 0, .signal = 0};
      if (WIFSIGNALED(status)) {
        exit.signal = WTERMSIG(status);
      } else {
        exit.status = WEXITSTATUS(status);
      }
      exits.push_back(exit);
    }
    return exits;
  }

  const ProcessLauncherOptions options_;
  const FileDescriptor wake_;
  std::map<pid_t, Child> children_;
};

}  // namespace

std::unique_ptr<WorkerLauncher> MakeProcessLauncher(ProcessLauncherOptions options) {
  return std::make_unique<ProcessLauncher>(std::move(options));
}

std::string WorkerBinaryBesideUs() { return (kernels::ProgramFolder() / "reel-worker").string(); }

}  // namespace reel::front
