// SPDX-License-Identifier: Apache-2.0
// A tensor as the kernels see it.
#pragma once

#include <optional>

#include "kernels/base/tensor_view.h"
#include "model/bridge/aten.h"

namespace reel::model {

// Borrowed: valid as long as the tensor. A type that no kernel knows becomes one that every
// operator refuses by name; so does a rank above kMaxRank.
kernels::TensorView ViewOf(const at::Tensor& tensor);

// Of a tensor that may be undefined.
std::optional<kernels::TensorView> OptionalViewOf(const at::Tensor& tensor);

}  // namespace reel::model
