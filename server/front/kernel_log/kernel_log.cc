// SPDX-License-Identifier: Apache-2.0
#include "server/front/kernel_log/kernel_log.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace reel::front {
namespace {

// A record of /dev/kmsg is at most this long, and a read with less room fails.
constexpr size_t kMostRecord = 8192;
constexpr int kBetweenLooksMs = 500;  // at a file, which never tells that it has grown

}  // namespace

absl::StatusOr<std::unique_ptr<KernelLog>> KernelLog::Follow(const std::string& path,
                                                             OnLine on_line) {
  FileDescriptor log(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!log) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  FileDescriptor stop(::eventfd(0, EFD_CLOEXEC));
  if (!stop) return absl::ErrnoToStatus(errno, "no descriptor is left");
  ::lseek(log.get(), 0, SEEK_END);  // a pipe has no end, and nothing old
  return std::unique_ptr<KernelLog>(
      new KernelLog(std::move(log), std::move(stop), std::move(on_line)));
}

KernelLog::KernelLog(FileDescriptor log, FileDescriptor stop, OnLine on_line)
    : log_(std::move(log)), stop_(std::move(stop)), on_line_(std::move(on_line)) {
  thread_ = std::thread([this] { Run(); });
}

KernelLog::~KernelLog() {
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

void KernelLog::Run() {
  std::array<pollfd, 2> both = {pollfd{stop_.get(), POLLIN, 0}, pollfd{log_.get(), POLLIN, 0}};
  for (bool waits = true;;) {
    // Where there was nothing although the log is said to be readable, only time helps.
    const int ready = ::poll(both.data(), waits ? 2 : 1, waits ? -1 : kBetweenLooksMs);
    if (ready < 0 && errno != EINTR) return;
    if (both[0].revents != 0) return;
    waits = Read();
  }
}

bool KernelLog::Read() {
  std::array<char, kMostRecord> record;
  const ssize_t size = ::read(log_.get(), record.data(), record.size());
  // EPIPE: the kernel has overwritten what was next; reading goes on behind it.
  if (size < 0) return errno == EINTR || errno == EPIPE;
  lines_.Add({record.data(), static_cast<size_t>(size)}, on_line_);
  return size > 0;
}

}  // namespace reel::front
