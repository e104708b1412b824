// SPDX-License-Identifier: Apache-2.0
// Copies host memory to a device.
#pragma once

#include <ATen/ops/empty.h>

#include "model/bridge/aten.h"

namespace reel::model {

// Copies `x` to the device without waiting for it, as to() would. A busy GPU may take longer than
// all that a new job needs, and would then be idle while the host queues that work.
inline at::Tensor Upload(const at::Tensor& x, at::Device device) {
  if (!x.device().is_cpu() || !device.is_cuda()) return x.to(device);
  const at::Tensor pinned = at::empty(x.sizes(), x.options().pinned_memory(true)).copy_(x);
  return pinned.to(device, /*non_blocking=*/true);
}

}  // namespace reel::model
