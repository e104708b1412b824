// SPDX-License-Identifier: Apache-2.0
// A tensor that may be undefined, as libtorch's functions take it.
#pragma once

#include <optional>

#include "model/bridge/aten.h"

namespace reel::model {

inline std::optional<at::Tensor> OrNone(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}
inline std::optional<at::Tensor> OrNone(const at::Tensor* tensor) {
  return tensor == nullptr ? std::nullopt : OrNone(*tensor);
}

}  // namespace reel::model
