// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/device_lead.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <utility>

namespace reel::model {

void DeviceLead::Asked(at::Device device) {
  if (device.is_cpu()) return;
  const c10::impl::VirtualGuardImpl guard(device.type());
  c10::Event asked(device.type());
  asked.record(guard.getStream(device));
  const std::optional<c10::Event> before = std::exchange(before_, std::move(asked));
  if (before.has_value()) before->synchronize();
}

}  // namespace reel::model
