// SPDX-License-Identifier: Apache-2.0
#include "kernels/torch_ops/boxed_kernels.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <vector>

#include "kernels/torch_ops/aten_variant.h"
#include "kernels/torch_ops/torch_failure.h"

namespace reel::kernels {
namespace {

bool NeedsGradient(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() && value.toTensor().requires_grad();
}

bool IsWritten(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

}  // namespace

void MutatingKernel::operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet,
                                torch::jit::Stack* stack) {
  const c10::FunctionSchema& schema = handle.schema();
  const size_t count = schema.arguments().size();
  const TorchCall call(schema, torch::jit::last(*stack, count));
  ThrowIfError(host_->Run(op_.key, call.Text("variant"), call.device(),
                          [&](const Execution& run) { return RunOperator(op_, call, run); }));
  torch::jit::drop(*stack, count);
}

void FunctionalKernel::operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet,
                                  torch::jit::Stack* stack) {
  const size_t count = handle.schema().arguments().size();
  const auto arguments = torch::jit::last(*stack, count);
  const TorchOutputs outputs = op_.allocate(TorchCall(handle.schema(), arguments));
  torch::jit::Stack call;
  call.reserve(outputs.size() + count);
  for (const at::Tensor& output : outputs) {
    call.push_back(output.defined() ? c10::IValue(output) : c10::IValue());
  }
  call.insert(call.end(), arguments.begin(), arguments.end());
  {
    // The caller has passed autograd already.
    const at::AutoDispatchBelowADInplaceOrView below;
    mutating_.callBoxed(call);
  }
  const at::TensorOptions options = outputs.front().options();
  torch::jit::drop(*stack, count);
  for (const at::Tensor& output : outputs) {
    // A schema cannot declare an optional output: one that was not requested is empty.
    stack->push_back(output.defined() ? output : at::empty({0}, options));
  }
}

void MetaKernel(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  torch::jit::drop(*stack, handle.schema().arguments().size());
}

void InferenceOnlyKernel(const c10::OperatorHandle& handle, c10::DispatchKeySet keys,
                         torch::jit::Stack* stack) {
  const auto& arguments = handle.schema().arguments();
  const auto values = torch::jit::last(*stack, arguments.size());
  std::vector<at::Tensor> written;
  for (size_t i = 0; i < arguments.size(); ++i) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        !(at::GradMode::is_enabled() && NeedsGradient(values[i])),
        "This operator is for inference only, and a tensor requires a gradient: ",
        handle.schema().name(), ", ", arguments[i].name(),
        "; call it under torch.no_grad() or torch.inference_mode()");
    if (IsWritten(arguments[i]) && values[i].isTensor()) written.push_back(values[i].toTensor());
  }
  {
    const at::AutoDispatchBelowADInplaceOrView below;
    handle.redispatchBoxed(keys & c10::after_ADInplaceOrView_keyset, stack);
  }
  // Lets code that saved an output before this call detect the change.
  for (const at::Tensor& tensor : written) tensor.unsafeGetTensorImpl()->bump_version();
}

}  // namespace reel::kernels
