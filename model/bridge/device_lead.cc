// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/device_lead.h"

#include <utility>

#include "model/bridge/device_event.h"

namespace reel::model {

void DeviceLead::Asked(at::Device device) {
  const std::optional<c10::Event> before = std::exchange(before_, AskedSoFar(device));
  if (before.has_value()) before->synchronize();
}

}  // namespace reel::model
