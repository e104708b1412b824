// SPDX-License-Identifier: Apache-2.0
// Random numbers of a request.
#pragma once

#include "model/bridge/upload.h"

namespace reel::model {

// Normal, of these sizes and options; drawn on the host, so that a seed gives the same numbers on
// every device.
inline at::Tensor DrawNormal(at::IntArrayRef sizes, at::Generator& generator,
                             const at::TensorOptions& options) {
  return Upload(at::randn(sizes, generator, options.device(at::kCPU)), options.device());
}

}  // namespace reel::model
