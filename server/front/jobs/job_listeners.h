// SPDX-License-Identifier: Apache-2.0
// The listeners that a job wakes. It is a listener itself, so a job that stands in front of another
// passes on its wakes.
#pragma once

#include <memory>
#include <vector>

#include "kernels/base/mutex.h"
#include "server/front/jobs/job.h"

namespace reel::front {

// Thread-safe.
class JobListeners final : public JobListener {
 public:
  // Held weakly.
  void Add(std::weak_ptr<JobListener> listener);
  // Wakes all that still exist, with no lock held.
  void Wake() override;

 private:
  Mutex mutex_;
  std::vector<std::weak_ptr<JobListener>> listeners_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
