// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/tensor_view_of.h"

#include <algorithm>

namespace reel::model {
namespace {

// Operators compute on three types and name the others in their refusal.
kernels::Dtype DtypeOf(at::ScalarType type) {
  switch (type) {
    case at::kHalf:
      return kernels::Dtype::kF16;
    case at::kBFloat16:
      return kernels::Dtype::kBf16;
    case at::kFloat:
      return kernels::Dtype::kF32;
    case at::kInt:
      return kernels::Dtype::kI32;
    case at::kLong:
      return kernels::Dtype::kI64;
    case at::kByte:
      return kernels::Dtype::kU8;
    case at::kFloat8_e4m3fn:
      return kernels::Dtype::kE4m3;
    default:
      return kernels::Dtype::kF64;
  }
}

}  // namespace

kernels::TensorView ViewOf(const at::Tensor& tensor) {
  kernels::TensorView view;
  view.data = tensor.numel() == 0 ? nullptr : tensor.data_ptr();
  view.dtype = DtypeOf(tensor.scalar_type());
  view.device = tensor.is_cuda() ? tensor.get_device() : kernels::kCpuDevice;
  view.rank = static_cast<int>(tensor.dim());
  const auto kept = static_cast<size_t>(std::min(view.rank, kernels::kMaxRank));
  std::copy_n(tensor.sizes().begin(), kept, view.sizes.begin());
  std::copy_n(tensor.strides().begin(), kept, view.strides.begin());
  return view;
}

std::optional<kernels::TensorView> OptionalViewOf(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(ViewOf(tensor)) : std::nullopt;
}

}  // namespace reel::model
