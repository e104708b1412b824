// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/fused_norm_call.h"

#include "kernels/base/status_macros.h"
#include "kernels/dispatch/argument_checks.h"
#include "kernels/dispatch/run_op.h"
#include "kernels/rows/coded_output.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {
namespace {

// The arguments' names in the operators' own headers.
struct Words {
  explicit Words(const FusedOp& op)
      : residual(op.has(kResidualGate) ? "y" : "residual"),
        sum(op.has(kNormed) ? "sum" : "out"),
        out(op.has(kSum) && !op.has(kResidualGate) ? "y" : "out") {}

  const char* residual;
  const char* sum;
  const char* out;
};

OutputArgs OutputOfFused(const FusedOp& op, const FusedArgs& args) {
  return {args.x, *args.out, args.out_scale, args.static_out_scale, op.codes};
}

void CheckOutForm(const FusedOp& op, const FusedArgs& args, ArgumentChecks& checks) {
  if (!op.has(kNormed)) return;
  if (op.codes) return CheckOutputForm(OutputOfFused(op, args), checks);
  checks.Like(Words(op).out, *args.out, "x", args.x);
}

void CheckVectorOf(const FusedOp& op, const FusedArgs& args, ArgumentChecks& checks) {
  if (!args.vector_of.has_value()) return;
  checks.Require(op.has(kVectorOf), "This operator's rows are not told which vectors they take");
  checks.Typed("vector_of", *args.vector_of, MaskOf(Dtype::kI32), 2, 2);
  if (checks.ok()) checks.Sizes("vector_of", *args.vector_of, {args.x.size(0), args.x.size(1)});
  if (checks.ok()) {
    checks.Require(args.vector_of->is_contiguous(), "vector_of must be contiguous");
  }
}

// Checks that all operands of the operator are given, and no others.
bool HasItsOperands(const FusedOp& op, const FusedArgs& args) {
  const auto none_but = [](bool has, const auto&... operands) {
    return has || (!operands.has_value() && ...);
  };
  return args.residual.has_value() == op.has(kResidual) && args.sum.has_value() == op.has(kSum) &&
         args.out.has_value() == op.has(kNormed) &&
         none_but(op.has(kResidualGate), args.residual_gate, args.residual_gate_bias) &&
         none_but(op.has(kAffine), args.weight) && none_but(op.bias, args.bias) &&
         none_but(op.has(kModulation), args.scale, args.scale_bias, args.shift, args.shift_bias) &&
         none_but(op.has(kOutputGate), args.gate, args.gate_bias) &&
         none_but(op.codes, args.out_scale, args.static_out_scale);
}

void CheckRows(const FusedOp& op, const FusedArgs& args, ArgumentChecks& checks) {
  const Words words(op);
  const bool batched = op.has(kModulation) || op.has(kResidualGate);
  checks.Floating("x", args.x, batched ? 3 : 1, batched ? 3 : kMaxRowDims);
  if (op.has(kResidual)) checks.Like(words.residual, *args.residual, "x", args.x);
  CheckVectorOf(op, args, checks);
  checks.Modulation("gate", args.residual_gate, args.residual_gate_bias, args.x,
                    args.vector_of.has_value());
  if (!op.has(kResidualGate)) CheckOutForm(op, args, checks);
  if (op.has(kSum)) checks.Like(words.sum, *args.sum, "x", args.x);
  if (op.has(kResidualGate)) CheckOutForm(op, args, checks);
}

void CheckVectors(const FusedOp& op, const FusedArgs& args, ArgumentChecks& checks) {
  checks.Channels("weight", args.weight, args.x);
  checks.Channels("bias", args.bias, args.x);
  if (op.has(kModulation)) {
    checks.Require(args.scale.has_value() && args.shift.has_value(),
                   "Scale and shift must both be given");
    checks.Modulation("scale", args.scale, args.scale_bias, args.x, args.vector_of.has_value());
    checks.Modulation("shift", args.shift, args.shift_bias, args.x, args.vector_of.has_value());
  }
  if (op.has(kOutputGate)) {
    checks.Require(args.gate.has_value(), "A gate must be given");
    checks.Modulation("gate", args.gate, args.gate_bias, args.x, args.vector_of.has_value());
  }
  if (op.statistic != Statistic::kNone) checks.Epsilon(args.eps.value_or(op.eps));
}

void CheckOutPlace(const FusedOp& op, const FusedArgs& args, ArgumentChecks& checks) {
  if (!op.has(kNormed)) return;
  if (op.codes) return CheckOutputPlace(OutputOfFused(op, args), checks);
  if (op.has(kModulation)) return checks.Output(Words(op).out, *args.out);
  checks.Output(Words(op).out, *args.out, {&args.x});
}

void CheckPlaces(const FusedOp& op, const FusedArgs& args, ArgumentChecks& checks) {
  if (op.has(kResidualGate)) {
    checks.Output(Words(op).sum, *args.sum, {&args.x});
    CheckOutPlace(op, args, checks);
    return;
  }
  CheckOutPlace(op, args, checks);
  if (op.has(kSum)) checks.Output("sum", *args.sum, {&args.x, &*args.residual});
}

RowOperand OptionalRows(const std::optional<TensorView>& view) {
  return view.has_value() ? RowsOperand(*view) : RowOperand{};
}

FusedNormParams ParamsOf(const FusedOp& op, const FusedArgs& args) {
  FusedNormParams params;
  params.shape = RowsOf(args.x);
  params.statistic = op.statistic;
  params.eps = static_cast<float>(args.eps.value_or(op.eps));
  params.x = RowsOperand(args.x);
  params.residual = OptionalRows(args.residual);
  params.residual_gate = VectorOperand(args.residual_gate);
  params.residual_gate_bias = VectorOperand(args.residual_gate_bias);
  params.weight = VectorOperand(args.weight);
  params.bias = VectorOperand(args.bias);
  params.scale = VectorOperand(args.scale);
  params.scale_bias = VectorOperand(args.scale_bias);
  params.shift = VectorOperand(args.shift);
  params.shift_bias = VectorOperand(args.shift_bias);
  params.gate = VectorOperand(args.gate);
  params.gate_bias = VectorOperand(args.gate_bias);
  params.sum = OptionalRows(args.sum);
  params.out = OptionalRows(args.out);
  if (op.codes) params.out_scale = OutputScale(OutputOfFused(op, args));
  if (args.vector_of.has_value()) {
    params.vector_of = static_cast<const int32_t*>(args.vector_of->data);
  }
  return params;
}

// Vectors chosen by an index have no leading dims of rows.
void MergeDims(FusedNormParams& p) {
  if (p.vector_of != nullptr) {
    return MergeRowDims(p.shape, {&p.x, &p.residual, &p.sum, &p.out, &p.out_scale.rows});
  }
  MergeRowDims(p.shape, {&p.x, &p.residual, &p.residual_gate, &p.residual_gate_bias, &p.weight,
                         &p.bias, &p.scale, &p.scale_bias, &p.shift, &p.shift_bias, &p.gate,
                         &p.gate_bias, &p.sum, &p.out, &p.out_scale.rows});
}

}  // namespace

OpVariants FusedNormCpuVariants(const FusedOp& op) {
  static constexpr KernelVariant kVariants[] = {
      CpuVariant<FusedNormCpu, FusedNormCpuAccepts>("cpu"),
      CpuVariant<FusedNormLoops>("loops"),
  };
  return MakeVariants<FusedNormParams>(op.name, kVariants);
}

absl::Status RunFused(const FusedOp& op, const FusedArgs& args, const Execution& run) {
  ArgumentChecks checks(op.name, run.stream);
  checks.Require(HasItsOperands(op, args), "An operand is missing, or is not this operator's");
  REEL_RETURN_IF_ERROR(checks.status());
  CheckRows(op, args, checks);
  CheckVectors(op, args, checks);
  CheckPlaces(op, args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  FusedNormParams params = ParamsOf(op, args);
  MergeDims(params);
  return RunOp({.cpu_variants = FusedNormCpuVariants(op),
                .dtype = params.x.dtype,
                .params = &params,
                .empty = params.shape.rows == 0 || params.shape.width == 0,
                .tensors = [&] { return checks.Tensors(); },
                .for_plugins = !HasCodes(params.out) && params.vector_of == nullptr},
               run);
}

}  // namespace reel::kernels
