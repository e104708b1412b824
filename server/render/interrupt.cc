// SPDX-License-Identifier: Apache-2.0
#include "server/render/interrupt.h"

#include <pthread.h>

#include <utility>

namespace reel::render {
namespace {

constexpr int kLeave = SIGUSR1;  // from the destructor

}  // namespace

InterruptWatch::InterruptWatch(std::function<void()> on_interrupt)
    : on_interrupt_(std::move(on_interrupt)) {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, kLeave}) sigaddset(&signals_, signal);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  thread_ = std::thread([this] {
    for (int signal = 0; sigwait(&signals_, &signal) == 0 && signal != kLeave;) on_interrupt_();
  });
}

InterruptWatch::~InterruptWatch() {
  pthread_kill(thread_.native_handle(), kLeave);
  thread_.join();
}

}  // namespace reel::render
