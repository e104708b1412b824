// SPDX-License-Identifier: Apache-2.0
// A value that a process makes once for each of its devices.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "kernels/base/mutex.h"
#include "model/bridge/aten.h"

namespace reel::model {

// Each is made when it is first asked for. Any thread; what it gives out is confined to the one
// that works on that device.
template <typename Made>
class ByDevice {
 public:
  using Make = std::function<std::unique_ptr<Made>(at::Device device)>;
  explicit ByDevice(Make make) : make_(std::move(make)) {}

  // Null where none can be made; then none is tried again.
  Made* On(at::Device device) {
    const MutexLock lock(mutex_);
    const auto found = made_.find(device.index());
    if (found != made_.end()) return found->second.get();
    return made_.emplace(device.index(), make_(device)).first->second.get();
  }

 private:
  const Make make_;
  Mutex mutex_;
  std::map<c10::DeviceIndex, std::unique_ptr<Made>> made_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::model
