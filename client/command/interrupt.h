// SPDX-License-Identifier: Apache-2.0
// Handles Ctrl-C: the first one requests an end, the second one exits at once.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace reel::client {

// While it lives, the first SIGINT or SIGTERM runs `on_first` on a thread of its own, which may
// block; a second one ends the process with 128 + signal. The destructor waits for `on_first`. One
// at a time. Make it before any other thread, so before the first call to a server: threads inherit
// the blocked signals.
class Interrupt {
 public:
  explicit Interrupt(std::function<void()> on_first);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // The first signal; 0 if there was none.
  int signal() const { return signal_; }

 private:
  void Listen();

  const std::function<void()> on_first_;
  std::atomic<int> signal_ = 0;
  int wake_ = -1;  // an eventfd that ends the listener
  std::thread listener_;
  std::thread handler_;  // started by the listener
};

}  // namespace reel::client
