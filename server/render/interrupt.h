// SPDX-License-Identifier: Apache-2.0
// Runs a function on Ctrl-C, on a thread of its own, where locks and allocations are allowed.
#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace reel::render {

// Handles SIGINT and SIGTERM while it lives. Make it before any other thread: threads inherit the
// blocked signals.
class InterruptWatch {
 public:
  explicit InterruptWatch(std::function<void()> on_interrupt);
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

 private:
  sigset_t signals_;
  std::function<void()> on_interrupt_;
  std::thread thread_;
};

}  // namespace reel::render
