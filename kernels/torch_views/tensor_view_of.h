// SPDX-License-Identifier: Apache-2.0
// Converts a tensor of libtorch to the kernels' view, for torch_ops/ and model/bridge.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "kernels/base/tensor_view.h"

namespace reel::kernels {

// Borrows: valid as long as the tensor. An unknown type becomes one that every operator refuses by
// name; so does a rank above kMaxRank.
TensorView ViewOf(const at::Tensor& tensor);
// The same into a view that has its initial values: a host's nanoseconds count.
void FillView(const at::Tensor& tensor, TensorView& view);

// For a tensor that may be undefined.
std::optional<TensorView> OptionalViewOf(const at::Tensor& tensor);

// The kernels' type, if they have it.
std::optional<Dtype> DtypeOf(at::ScalarType type);

}  // namespace reel::kernels
