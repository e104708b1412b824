// SPDX-License-Identifier: Apache-2.0
// Who is woken by a job; itself a listener, so that a job which stands before another one passes
// its wakes on.
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
