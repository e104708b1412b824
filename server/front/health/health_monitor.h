// SPDX-License-Identifier: Apache-2.0
// Looks at what health depends on, often enough that a probe learns of a change within 100 ms.
#pragma once

#include <functional>
#include <thread>

#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/health/health_board.h"

namespace reel::front {

class HealthMonitor {
 public:
  // `admitting` and `warm` are asked on the monitor's thread; `warm` until it is true.
  HealthMonitor(HealthBoard& board, std::function<bool()> admitting, std::function<bool()> warm,
                absl::Duration period = absl::Milliseconds(50));
  ~HealthMonitor();
  HealthMonitor(const HealthMonitor&) = delete;
  HealthMonitor& operator=(const HealthMonitor&) = delete;

 private:
  void Run();

  HealthBoard& board_;
  const std::function<bool()> admitting_, warm_;
  const absl::Duration period_;
  Mutex mutex_;
  CondVar stop_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace reel::front
