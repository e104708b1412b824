// SPDX-License-Identifier: Apache-2.0
#include "client/command/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace reel::client {
namespace {

sigset_t Signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

Interrupt::Interrupt(std::function<void()> on_first)
    : on_first_(std::move(on_first)), wake_(eventfd(0, EFD_CLOEXEC)) {
  // Blocks the signals in this thread and all that it starts later; in any other thread a signal
  // would end the process.
  const sigset_t set = Signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  listener_ = std::thread([this] { Listen(); });
}

Interrupt::~Interrupt() {
  const uint64_t one = 1;
  (void)!write(wake_, &one, sizeof(one));
  listener_.join();
  if (handler_.joinable()) handler_.join();
  close(wake_);
}

void Interrupt::Listen() {
  const sigset_t set = Signals();
  const int signals = signalfd(-1, &set, SFD_CLOEXEC);
  pollfd files[] = {{signals, POLLIN, 0}, {wake_, POLLIN, 0}};
  for (;;) {
    if (poll(files, 2, -1) < 0 && errno == EINTR) continue;
    if ((files[1].revents & POLLIN) != 0) break;
    signalfd_siginfo info;
    if (read(signals, &info, sizeof(info)) != sizeof(info)) continue;
    const int number = static_cast<int>(info.ssi_signo);
    // A second Ctrl-C waits for no destructor.
    if (signal_ != 0) _exit(128 + number);
    signal_ = number;
    handler_ = std::thread(on_first_);
  }
  close(signals);
}

}  // namespace reel::client
