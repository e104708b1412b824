// SPDX-License-Identifier: Apache-2.0
// A network between clients and a server that cuts their connections, and a steady address in front
// of a server that is started again and again.
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "kernels/base/mutex.h"

namespace reel::tests {

// Forwards bytes between connections to its address and ones to its target. Thread-safe.
class CuttingProxy {
 public:
  CuttingProxy();
  ~CuttingProxy();
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;

  const std::string& address() const { return address_; }  // host:port
  // Where connections lead from now on; those that are open stay where they are.
  void SetTarget(const std::string& address);
  // How much passes from servers to clients, at most. Unbounded before.
  void SetBytesPerSecond(double rate);
  // Each of these, in rising order, is a number of bytes from servers to clients, over all
  // connections, after which every open connection is reset.
  void SetCuts(std::vector<int64_t> after);
  int cuts() const;
  // Bytes that reached clients' side.
  int64_t forwarded() const;

 private:
  struct Pair {
    int client = -1, server = -1;
  };

  void Run();
  void Accept();
  // False when the connection is over.
  bool Forward(int from, int to, bool counted);
  void CutAll();

  int listener_ = -1;
  int stop_[2] = {-1, -1};
  std::string address_;
  std::vector<Pair> pairs_;  // the thread's
  mutable Mutex mutex_;
  std::string target_ ABSL_GUARDED_BY(mutex_);
  std::vector<int64_t> cuts_ ABSL_GUARDED_BY(mutex_);  // the next one last
  double bytes_per_second_ ABSL_GUARDED_BY(mutex_) = 0;
  int cut_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t forwarded_ ABSL_GUARDED_BY(mutex_) = 0;
  std::thread thread_;
};

}  // namespace reel::tests
