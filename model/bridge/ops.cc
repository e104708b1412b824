// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/ops.h"

#include <utility>

#include "kernels/torch_views/tensor_view_of.h"
#include "model/bridge/host_threads.h"
#include "model/bridge/torch_guard.h"

namespace reel::model {

Ops::Ops(const kernels::Execution& run) : run_(run) { run_.threads = &LibtorchThreads(); }

Ops Ops::WithAdapters(at::Tensor scales) const {
  Ops with = *this;
  with.adapter_scales_ = std::move(scales);
  return with;
}

void Ops::Call(std::string_view op, at::ScalarType type, const void* call,
               kernels::KernelsOp kernels) const {
  const auto dtype = kernels::DtypeOf(type).value_or(kernels::Dtype::kF64);
  ThrowIfError(kernels::RunModelCall({.op = op, .dtype = dtype, .call = call}, run_, kernels));
}

}  // namespace reel::model
