// SPDX-License-Identifier: Apache-2.0
#include "model/torch_plugins/torch_forms.h"

#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/activation/activation.h"
#include "kernels/activation/activation_launch.h"
#include "kernels/base/operand_schema.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/rms_norm/rms_norm_launch.h"
#include "kernels/rows/fused_ops_schema.h"

namespace reel::model {
namespace {

using kernels::Activation;
using kernels::ActivationParams;
using kernels::FusedInputs;
using kernels::FusedNormParams;
using kernels::FusedOp;
using kernels::FusedOperand;
using kernels::FusedOutputs;
using kernels::FusedShape;
using kernels::RmsNormParams;
using kernels::RowOperand;
using kernels::RowShape;
using kernels::Statistic;
using torch::jit::Stack;

at::ScalarType TypeOf(kernels::Dtype dtype) {
  if (dtype == kernels::Dtype::kF16) return at::kHalf;
  return dtype == kernels::Dtype::kBf16 ? at::kBFloat16 : at::kFloat;
}

at::Tensor Blob(const RowOperand& operand, at::IntArrayRef sizes, at::IntArrayRef strides,
                at::Device device) {
  return at::from_blob(operand.data, sizes, strides,
                       at::TensorOptions().dtype(TypeOf(operand.dtype)).device(device));
}

// One dimension of rows, with `columns` contiguous elements.
at::Tensor Plain(const RowShape& shape, const RowOperand& operand, int64_t columns,
                 at::Device device) {
  return Blob(operand, {shape.rows, columns}, {operand.strides[0], operand.inner}, device);
}

// [B, S, D], also for vectors, with strides 0 where they repeat.
at::Tensor Batched(const RowShape& shape, const RowOperand& operand, at::Device device) {
  if (shape.dims == 2) {
    return Blob(operand, {shape.sizes[0], shape.sizes[1], shape.width},
                {operand.strides[0], operand.strides[1], operand.inner}, device);
  }
  const int64_t stride = operand.strides[0];
  return Blob(operand, {1, shape.rows, shape.width}, {stride * shape.rows, stride, operand.inner},
              device);
}

at::Tensor Channels(const RowShape& shape, const RowOperand& operand, at::Device device) {
  return Blob(operand, {shape.width}, {operand.inner}, device);
}

c10::IValue OptionalChannels(const RowShape& shape, const RowOperand& operand, at::Device device) {
  return operand.data == nullptr ? c10::IValue() : c10::IValue(Channels(shape, operand, device));
}
c10::IValue OptionalBatched(const RowShape& shape, const RowOperand& operand, at::Device device) {
  return operand.data == nullptr ? c10::IValue() : c10::IValue(Batched(shape, operand, device));
}

// Other libraries read contiguous rows.
bool IsDense(const RowShape& shape, const RowOperand& operand, int64_t columns) {
  return shape.dims <= 1 && operand.inner == 1 &&
         (operand.strides[0] == columns || shape.rows == 1);
}

template <typename Params, bool (*kAccepts)(const Params&),
          Stack (*kStack)(const Params&, at::Device)>
TorchForm Form(std::string op, std::string function, std::string arguments) {
  return {
      .op = std::move(op),
      .function = std::move(function),
      .arguments = std::move(arguments),
      .params_size = sizeof(Params),
      .dtype = [](const void* params) { return static_cast<const Params*>(params)->x.dtype; },
      .accepts = [](const void* params) { return kAccepts(*static_cast<const Params*>(params)); },
      .stack =
          [](const void* params, at::Device device) {
            return kStack(*static_cast<const Params*>(params), device);
          }};
}

// The public collections.

constexpr char kRmsNorm[] = "(Tensor(a!) out, Tensor input, Tensor weight, float epsilon) -> ()";

template <Activation kKind>
bool TakesElements(const ActivationParams& params) {
  return params.kind == kKind && params.bias.data == nullptr &&
         IsDense(params.shape, params.x, params.shape.width) &&
         IsDense(params.shape, params.out, params.shape.width);
}
Stack Elements(const ActivationParams& params, at::Device device) {
  return {Plain(params.shape, params.out, params.shape.width, device),
          Plain(params.shape, params.x, params.shape.width, device)};
}

// Both halves in one row, the gate first or last.
template <Activation kKind, bool kGateFirst>
bool TakesHalves(const ActivationParams& params) {
  const RowOperand& first = kGateFirst ? params.x : params.value;
  const RowOperand& second = kGateFirst ? params.value : params.x;
  const int64_t bytes = params.shape.width * kernels::DtypeSize(first.dtype);
  return params.kind == kKind && IsDense(params.shape, first, 2 * params.shape.width) &&
         IsDense(params.shape, second, 2 * params.shape.width) &&
         static_cast<std::byte*>(first.data) + bytes == second.data &&
         IsDense(params.shape, params.out, params.shape.width);
}
template <bool kGateFirst>
Stack Halves(const ActivationParams& params, at::Device device) {
  RowOperand input = kGateFirst ? params.x : params.value;
  input.strides[0] = 2 * params.shape.width;
  return {Plain(params.shape, params.out, params.shape.width, device),
          Plain(params.shape, input, 2 * params.shape.width, device)};
}

// The test shows which of the two roundings a library makes.
template <bool kRounded>
bool TakesRmsNorm(const RmsNormParams& params) {
  return params.weight.data != nullptr && params.weight.inner == 1 &&
         params.weight.dtype == params.x.dtype && params.bias.data == nullptr &&
         params.weight_offset == 0 && params.round_before_weight == kRounded &&
         IsDense(params.shape, params.x, params.shape.width) &&
         IsDense(params.shape, params.out, params.shape.width);
}
Stack RmsNorm(const RmsNormParams& params, at::Device device) {
  return {Plain(params.shape, params.out, params.shape.width, device),
          Plain(params.shape, params.x, params.shape.width, device),
          Channels(params.shape, params.weight, device), static_cast<double>(params.eps)};
}

// Another build of Reel's own operator: any strides.

template <typename Params>
bool TakesTwoDims(const Params& params) {
  return params.shape.dims <= 2;
}

Stack OwnRmsNorm(const RmsNormParams& params, at::Device device) {
  const RowShape& shape = params.shape;
  return {Batched(shape, params.out, device),
          Batched(shape, params.x, device),
          OptionalChannels(shape, params.weight, device),
          OptionalChannels(shape, params.bias, device),
          static_cast<double>(params.eps),
          static_cast<double>(params.weight_offset),
          params.round_before_weight,
          c10::IValue()};
}

// A fused norm by its description: outputs, x, the other inputs, eps, no variant.
template <const FusedOp& kOp>
Stack OwnFused(const FusedNormParams& params, at::Device device) {
  const RowShape& shape = params.shape;
  Stack stack;
  for (const FusedOperand& output : FusedOutputs(kOp)) {
    stack.emplace_back(Batched(shape, params.*output.parameter, device));
  }
  stack.emplace_back(Batched(shape, params.x, device));
  for (const FusedOperand& input : FusedInputs(kOp)) {
    const RowOperand& operand = params.*input.parameter;
    stack.push_back(input.shape == FusedShape::kChannels ? OptionalChannels(shape, operand, device)
                                                         : OptionalBatched(shape, operand, device));
  }
  if constexpr (kOp.statistic != Statistic::kNone) {
    stack.emplace_back(static_cast<double>(params.eps));
  }
  stack.emplace_back();
  return stack;
}

Stack OwnActivation(const ActivationParams& params, at::Device device) {
  const RowShape& shape = params.shape;
  return {Batched(shape, params.out, device), Batched(shape, params.x, device),
          OptionalChannels(shape, params.bias, device), KindName(params.kind), c10::IValue()};
}

Stack OwnGated(const ActivationParams& params, at::Device device) {
  const RowShape& shape = params.shape;
  return {Batched(shape, params.out, device),
          Batched(shape, params.x, device),
          Batched(shape, params.value, device),
          KindName(params.kind),
          true,
          static_cast<double>(params.threshold),
          c10::IValue()};
}

template <Activation kKind>
TorchForm ElementsForm(const char* function) {
  return Form<ActivationParams, TakesElements<kKind>, Elements>(
      "activation", function, "(Tensor(a!) out, Tensor input) -> ()");
}
template <Activation kKind, bool kGateFirst>
TorchForm HalvesForm(const char* function) {
  return Form<ActivationParams, TakesHalves<kKind, kGateFirst>, Halves<kGateFirst>>(
      "gated_activation", function, "(Tensor(a!) out, Tensor input) -> ()");
}

std::string OwnArguments(const kernels::OperandSchema& schema) {
  return absl::StrCat("(", schema.outputs, ", ", schema.arguments, ", str? variant=None) -> ()");
}

template <template <typename> class Operands, typename Params,
          Stack (*kStack)(const Params&, at::Device)>
TorchForm OwnForm(const std::string& op) {
  return Form<Params, TakesTwoDims<Params>, kStack>(
      op, absl::StrCat(op, "_out"),
      OwnArguments(kernels::SchemaOf<Operands>(kernels::OperandForm::kPlain)));
}

template <const FusedOp& kOp>
TorchForm FusedForm() {
  return Form<FusedNormParams, TakesTwoDims<FusedNormParams>, OwnFused<kOp>>(
      kOp.name, absl::StrCat(kOp.name, "_out"), OwnArguments(kernels::SchemaOf(kOp, 0)));
}

template <size_t... kAt>
void AddFusedForms(std::vector<TorchForm>& forms, std::index_sequence<kAt...>) {
  (forms.push_back(FusedForm<*kernels::kFusedOps[kAt]>()), ...);
}

std::vector<TorchForm> AllForms() {
  std::vector<TorchForm> forms = {
      HalvesForm<Activation::kSilu, true>("silu_and_mul"),
      HalvesForm<Activation::kSilu, false>("mul_and_silu"),
      HalvesForm<Activation::kGeluErf, true>("gelu_and_mul"),
      HalvesForm<Activation::kGeluTanh, true>("gelu_tanh_and_mul"),
      ElementsForm<Activation::kGeluErf>("gelu"),
      ElementsForm<Activation::kGeluTanh>("gelu_tanh"),
      ElementsForm<Activation::kGeluTanh>("gelu_new"),
      ElementsForm<Activation::kGeluTanh>("gelu_fast"),
      ElementsForm<Activation::kGeluQuick>("gelu_quick"),
      ElementsForm<Activation::kSilu>("silu"),
      Form<RmsNormParams, TakesRmsNorm<false>, RmsNorm>("rms_norm", "rms_norm", kRmsNorm),
      Form<RmsNormParams, TakesRmsNorm<true>, RmsNorm>("rms_norm", "rms_norm", kRmsNorm),
      OwnForm<kernels::RmsNormOperands, RmsNormParams, OwnRmsNorm>("rms_norm"),
      OwnForm<kernels::ActivationOperands, ActivationParams, OwnActivation>("activation"),
      OwnForm<kernels::GatedActivationOperands, ActivationParams, OwnGated>("gated_activation"),
  };
  AddFusedForms(forms, std::make_index_sequence<std::size(kernels::kFusedOps)>());
  return forms;
}

}  // namespace

absl::Span<const TorchForm> TorchForms() {
  static const std::vector<TorchForm> forms = AllForms();
  return forms;
}

}  // namespace reel::model
