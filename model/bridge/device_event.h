// SPDX-License-Identifier: Apache-2.0
// A point in a device's work that a host can wait for.
#pragma once

#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <optional>

#include "model/bridge/aten.h"

namespace reel::model {

// What the device's current stream has been asked for so far; none on a CPU, which is there
// already. Throws what libtorch throws.
inline std::optional<c10::Event> AskedSoFar(at::Device device) {
  if (device.is_cpu()) return std::nullopt;
  const c10::impl::VirtualGuardImpl guard(device.type());
  c10::Event asked(device.type());
  asked.record(guard.getStream(device));
  return asked;
}

}  // namespace reel::model
