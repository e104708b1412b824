// SPDX-License-Identifier: Apache-2.0
// Tells of errors of GPUs that the kernel's log has.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/time/time.h"
#include "server/front/kernel_log/kernel_log.h"
#include "server/front/kernel_log/xid.h"

namespace reel::front {

// Logs errors of the same number of the same GPU once a minute. Confined to one thread.
class GpuErrorLines {
 public:
  // False: too soon after the last one that was let through.
  bool Take(const Xid& xid, absl::Time now);

 private:
  std::map<std::pair<std::string, int>, absl::Time> told_;
};

// Follows the log at `path` while what it returns lives. `count` adds to a class: 0 to each at
// once, then on a thread of its own. nullptr where the log cannot be read, as in most containers:
// then nothing is told of GPUs.
std::unique_ptr<KernelLog> WatchGpuErrors(const std::string& path,
                                          std::function<void(XidClass, int)> count);

}  // namespace reel::front
