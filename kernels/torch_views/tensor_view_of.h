// SPDX-License-Identifier: Apache-2.0
// A tensor of libtorch as the kernels see it: the one place, for torch_ops/ and model/bridge.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "kernels/base/tensor_view.h"

namespace reel::kernels {

// Borrowed: valid as long as the tensor. A type that no kernel knows becomes one that every
// operator refuses by name; so does a rank above kMaxRank.
TensorView ViewOf(const at::Tensor& tensor);

// Of a tensor that may be undefined.
std::optional<TensorView> OptionalViewOf(const at::Tensor& tensor);

// The type of the kernels, if they have it.
std::optional<Dtype> DtypeOf(at::ScalarType type);

}  // namespace reel::kernels
