// SPDX-License-Identifier: Apache-2.0
#include "server/front/workers/frames_comparer.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

// Debian 12's does not say itself that it is C.
extern "C" {
#include <sys/pidfd.h>
}

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "kernels/base/mutex.h"
#include "kernels/base/program_folder.h"
#include "kernels/base/status_macros.h"
#include "server/front/workers/file_descriptor.h"

namespace reel::front {
namespace {

constexpr size_t kMostAnswer = 4096;

absl::Status ComparerError(const char* what, int error) {
  return absl::UnavailableError(absl::StrCat(what, ": ", strerror(error)));
}

// A child that is known by a descriptor: its number may be another process's as soon as somebody
// has waited for it, and the supervisor waits for every child.
class Child {
 public:
  static absl::StatusOr<Child> Spawn(const std::vector<std::string>& arguments, int output) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    absl::Cleanup free_actions = [&] { posix_spawn_file_actions_destroy(&actions); };
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    absl::Cleanup free_attributes = [&] { posix_spawnattr_destroy(&attributes); };
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    std::vector<char*> argv;
    for (const std::string& text : arguments) argv.push_back(const_cast<char*>(text.c_str()));
    argv.push_back(nullptr);
    pid_t pid = 0;
    const int error = posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
    if (error != 0) return ComparerError("Cannot start the program that compares frames", error);
    // Fails only where the kernel knows no such class: then it takes its share.
    const sched_param no_priority = {};
    (void)sched_setscheduler(pid, SCHED_IDLE, &no_priority);
    return Child(FileDescriptor(pidfd_open(pid, 0)));
  }

  Child(Child&&) = default;
  Child& operator=(Child&&) = default;
  ~Child() {
    if (!handle_) return;
    (void)pidfd_send_signal(handle_.get(), SIGKILL, nullptr, 0);
    siginfo_t ignored;
    (void)waitid(P_PIDFD, static_cast<id_t>(handle_.get()), &ignored, WEXITED);
  }

 private:
  explicit Child(FileDescriptor handle) : handle_(std::move(handle)) {}
  FileDescriptor handle_;
};

absl::StatusOr<FrameDistance> DistanceIn(const std::string& output) {
  const auto json = nlohmann::json::parse(output, nullptr, /*allow_exceptions=*/false);
  const bool sound = json.is_object() && json.contains("identical") && json.contains("ssim") &&
                     json["identical"].is_boolean() && json["ssim"].is_number();
  if (!sound) {
    return absl::InternalError(
        absl::StrCat("The frames were not compared: ", output.substr(0, output.find('\n'))));
  }
  FrameDistance distance;
  distance.identical = json["identical"].get<bool>();
  distance.ssim = json["ssim"].get<double>();
  if (distance.identical) return distance;
  if (!json.contains("psnrDb") || !json["psnrDb"].is_number()) {
    return absl::InternalError("The frames were compared, but not how far they lie apart");
  }
  distance.psnr_db = json["psnrDb"].get<double>();
  return distance;
}

class ProcessFramesComparer final : public FramesComparer {
 public:
  explicit ProcessFramesComparer(FramesComparerOptions options)
      : options_(std::move(options)),
        stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        thread_([this] { Loop(); }) {}

  ~ProcessFramesComparer() override {
    {
      const MutexLock lock(mutex_);
      stopping_ = true;
      changed_.NotifyAll();
    }
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(stop_.get(), &one, sizeof one);
    thread_.join();
  }

  void Compare(const std::string& path_a, const std::string& path_b, Done done) override {
    {
      const MutexLock lock(mutex_);
      if (!busy_) {
        busy_ = true;
        request_ = {path_a, path_b, std::move(done)};
        changed_.NotifyAll();
        return;
      }
    }
    done(absl::UnavailableError("Another comparison is under way"));
  }

 private:
  struct Request {
    std::string path_a, path_b;
    Done done;
  };

  std::optional<Request> TakeRequest() {
    const MutexLock lock(mutex_);
    while (!request_ && !stopping_) changed_.Wait(mutex_);
    return stopping_ ? std::nullopt : std::exchange(request_, std::nullopt);
  }

  void Loop() {
    while (std::optional<Request> request = TakeRequest()) {
      absl::StatusOr<FrameDistance> distance = Run(*request);
      {
        const MutexLock lock(mutex_);
        if (stopping_) return;
        busy_ = false;
      }
      request->done(std::move(distance));
    }
  }

  absl::StatusOr<FrameDistance> Run(const Request& request) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return ComparerError("Cannot make a pipe", errno);
    const FileDescriptor read_end(ends[0]);
    FileDescriptor write_end(ends[1]);
    fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
    REEL_ASSIGN_OR_RETURN(
        const Child child,
        Child::Spawn({options_.binary, request.path_a, request.path_b}, write_end.get()));
    write_end.Close();
    REEL_ASSIGN_OR_RETURN(const std::string output, ReadAll(read_end));
    return DistanceIn(output);
  }

  // Until its end, a stop or the limit.
  absl::StatusOr<std::string> ReadAll(const FileDescriptor& from) const {
    const absl::Time end = absl::Now() + options_.limit;
    std::string output;
    for (;;) {
      const absl::Duration left = std::max(end - absl::Now(), absl::ZeroDuration());
      std::array<pollfd, 2> watched = {{{.fd = from.get(), .events = POLLIN, .revents = 0},
                                        {.fd = stop_.get(), .events = POLLIN, .revents = 0}}};
      const int ready = poll(
          watched.data(), watched.size(),
          static_cast<int>(absl::ToInt64Milliseconds(absl::Ceil(left, absl::Milliseconds(1)))));
      if (ready == 0) return absl::DeadlineExceededError("Comparing the frames took too long");
      if (watched[1].revents != 0) return absl::CancelledError("The server ends");
      std::array<char, 1024> buffer;
      const ssize_t size = read(from.get(), buffer.data(), buffer.size());
      if (size == 0) return output;
      if (size < 0 && errno != EAGAIN && errno != EINTR) {
        return ComparerError("Cannot read from the program that compares frames", errno);
      }
      if (size > 0 && output.size() < kMostAnswer) {
        output.append(buffer.data(), static_cast<size_t>(size));
      }
    }
  }

  const FramesComparerOptions options_;
  const FileDescriptor stop_;
  Mutex mutex_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<Request> request_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace

std::unique_ptr<FramesComparer> MakeProcessFramesComparer(FramesComparerOptions options) {
  return std::make_unique<ProcessFramesComparer>(std::move(options));
}

std::string FramesBinaryBesideUs() { return (kernels::ProgramFolder() / "reel-frames").string(); }

}  // namespace reel::front
