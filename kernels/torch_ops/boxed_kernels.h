// SPDX-License-Identifier: Apache-2.0
// Registers the table's operators with libtorch: one function per dispatch key, for all of them.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <memory>
#include <utility>

#include "kernels/torch_ops/kernel_host.h"
#include "kernels/torch_ops/torch_operator.h"

namespace reel::kernels {

// `name_out` on a CPU or GPU: runs the kernel, and throws its refusal.
class MutatingKernel : public c10::OperatorKernel {
 public:
  MutatingKernel(const TorchOperator& op, std::shared_ptr<KernelHost> host)
      : op_(op), host_(std::move(host)) {}
  void operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet keys,
                  torch::jit::Stack* stack);

 private:
  const TorchOperator op_;
  const std::shared_ptr<KernelHost> host_;
};

// `name` on any device, the meta device too: allocates the outputs and calls `name_out`.
class FunctionalKernel : public c10::OperatorKernel {
 public:
  FunctionalKernel(const TorchOperator& op, c10::OperatorHandle mutating)
      : op_(op), mutating_(mutating) {}
  void operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet keys,
                  torch::jit::Stack* stack);

 private:
  const TorchOperator op_;
  const c10::OperatorHandle mutating_;
};

// `name_out` on the meta device: its outputs already have their sizes.
void MetaKernel(const c10::OperatorHandle& handle, torch::jit::Stack* stack);

// Throws c10::NotImplementedError if a gradient would be lost; otherwise continues below autograd.
void InferenceOnlyKernel(const c10::OperatorHandle& handle, c10::DispatchKeySet keys,
                         torch::jit::Stack* stack);

}  // namespace reel::kernels
