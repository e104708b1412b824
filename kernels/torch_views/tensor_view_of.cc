// SPDX-License-Identifier: Apache-2.0
#include "kernels/torch_views/tensor_view_of.h"

#include <algorithm>

namespace reel::kernels {

std::optional<Dtype> DtypeOf(at::ScalarType type) {
  switch (type) {
    case at::kHalf:
      return Dtype::kF16;
    case at::kBFloat16:
      return Dtype::kBf16;
    case at::kFloat:
      return Dtype::kF32;
    case at::kDouble:
      return Dtype::kF64;
    case at::kInt:
      return Dtype::kI32;
    case at::kLong:
      return Dtype::kI64;
    case at::kByte:
      return Dtype::kU8;
    case at::kFloat8_e4m3fn:
      return Dtype::kE4m3;
    case at::kChar:
      return Dtype::kI8;
    default:
      return std::nullopt;
  }
}

void FillView(const at::Tensor& tensor, TensorView& view) {
  view.data = tensor.numel() == 0 ? nullptr : tensor.data_ptr();
  // Operators compute in three types and name the others in their refusal.
  view.dtype = DtypeOf(tensor.scalar_type()).value_or(Dtype::kF64);
  view.device = tensor.is_cuda() ? tensor.get_device() : kCpuDevice;
  const at::IntArrayRef sizes = tensor.sizes(), strides = tensor.strides();
  view.rank = static_cast<int>(sizes.size());
  // A loop: for so few numbers a call of memmove takes longer.
  for (size_t d = 0; d < std::min<size_t>(sizes.size(), kMaxRank); ++d) {
    view.sizes[d] = sizes[d];
    view.strides[d] = strides[d];
  }
}

TensorView ViewOf(const at::Tensor& tensor) {
  TensorView view;
  FillView(tensor, view);
  return view;
}

std::optional<TensorView> OptionalViewOf(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(ViewOf(tensor)) : std::nullopt;
}

}  // namespace reel::kernels
