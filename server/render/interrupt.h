// SPDX-License-Identifier: Apache-2.0
// Ctrl-C as a call: on a thread of its own, where locks and allocations are allowed.
#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace reel::render {

// Takes SIGINT and SIGTERM while it lives. To be made before any other thread: they inherit that
// the signals are blocked.
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
