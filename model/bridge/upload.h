// SPDX-License-Identifier: Apache-2.0
// Copies host memory to a device.
#pragma once

#include <ATen/ops/empty.h>

#include "model/bridge/aten.h"

namespace reel::model {

// `x` there. A GPU is not waited for, as to() does: what it has to do may take longer than all that
// a newcomer needs of it, and then it has nothing to do while the host asks for that.
inline at::Tensor Upload(const at::Tensor& x, at::Device device) {
  if (!x.device().is_cpu() || !device.is_cuda()) return x.to(device);
  const at::Tensor pinned = at::empty(x.sizes(), x.options().pinned_memory(true)).copy_(x);
  return pinned.to(device, /*non_blocking=*/true);
}

}  // namespace reel::model
