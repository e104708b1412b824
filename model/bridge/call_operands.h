// SPDX-License-Identifier: Apache-2.0
// The operands of an operator (kernels/base/operands.h) as tensors of libtorch, which is what a
// model's call of it holds and libtorch's variants take; and as the views that kernels/ takes.
#pragma once

#include <optional>

#include "kernels/base/operands.h"
#include "kernels/torch_views/tensor_view_of.h"
#include "model/bridge/aten.h"

namespace reel::model {

// Borrowed for the call. An absent one is null or undefined. Outputs are defined before a variant
// of kernels/ runs; a variant of libtorch brings memory of its own.
struct Tensors {
  using In = const at::Tensor&;
  using MaybeIn = const at::Tensor*;
  using Out = at::Tensor&;
  using MaybeOut = at::Tensor*;
};

inline void PutView(const at::Tensor& tensor, kernels::TensorView& view) {
  kernels::FillView(tensor, view);
}
inline void PutView(const at::Tensor* tensor, std::optional<kernels::TensorView>& view) {
  if (tensor != nullptr && tensor->defined()) kernels::FillView(*tensor, view.emplace());
}
template <typename Option>
void PutView(const Option& option, Option& same) {
  same = option;
}
template <template <typename> class Operands>
Operands<kernels::Views> ViewsOf(const Operands<Tensors>& call);

// A part of the operands that has a struct of its own.
template <template <typename> class Part>
void PutView(const std::optional<Part<Tensors>>& part, std::optional<Part<kernels::Views>>& views) {
  if (part.has_value()) views = ViewsOf(*part);
}

template <template <typename> class Operands>
Operands<kernels::Views> ViewsOf(const Operands<Tensors>& call) {
  Operands<kernels::Views> views{};
  Operands<kernels::Views>::EachOperand(
      [](const kernels::Operand&, const auto& from, auto& to) { PutView(from, to); }, call, views);
  return views;
}

}  // namespace reel::model
