// SPDX-License-Identifier: Apache-2.0
// Counts each tenant's open streams at the door, and limits them.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "kernels/base/mutex.h"

namespace reel::front {

// Thread-safe.
class TenantStreams {
 public:
  // `most`: of one tenant's; 0: any number.
  explicit TenantStreams(int most);

  // A place, for as long as it is held; it may outlive this. TENANT_QUOTA where all are taken.
  absl::StatusOr<std::shared_ptr<const void>> Take(const std::string& tenant) const;

 private:
  struct Open {
    Mutex mutex;
    std::map<std::string, int> count ABSL_GUARDED_BY(mutex);
  };

  const int most_;
  const std::shared_ptr<Open> open_;
};

}  // namespace reel::front
