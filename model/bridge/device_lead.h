// SPDX-License-Identifier: Apache-2.0
// Limits how far a host runs ahead of its device, so that new work does not wait for all that is
// queued.
#pragma once

#include <c10/core/Event.h>

#include <optional>

#include "model/bridge/aten.h"

namespace reel::model {

// Confined to one thread, which works on one stream of the device.
class DeviceLead {
 public:
  // A piece has been asked for: returns once the one before it is done, so that the device always
  // has one to go on with. At once on a CPU. Throws what libtorch throws.
  void Asked(at::Device device);

 private:
  std::optional<c10::Event> before_;
};

}  // namespace reel::model
