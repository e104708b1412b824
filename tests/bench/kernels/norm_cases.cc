// SPDX-License-Identifier: Apache-2.0
// Norms, adaptive norms and gates. x is [2, S, D], a model's batch of two, where S is whole.

#include "absl/strings/str_cat.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/rows/fused_norms.h"
#include "tests/bench/kernels/bench_case.h"

namespace reel::kernels {
namespace {

constexpr int64_t kPeriod = 4;  // rows

// The tensors of a call over `rows` rows.
class RowTensors {
 public:
  RowTensors(BenchTensors& tensors, Dtype dtype, int64_t rows, int64_t width)
      : tensors_(tensors),
        dtype_(dtype),
        width_(width),
        batch_(rows > kPeriod && rows % (2 * kPeriod) == 0 ? 2 : 1),
        sizes_{batch_, rows / batch_, width} {}

  TensorView In() { return tensors_.Input(dtype_, sizes_, kPeriod * width_); }
  TensorView Out() { return tensors_.Output(dtype_, sizes_); }
  TensorView Codes(Dtype codes) { return tensors_.Output(codes, sizes_); }
  TensorView RowScales() { return tensors_.Output(Dtype::kF32, {sizes_[0], sizes_[1]}); }
  TensorView Vector() { return tensors_.Input(dtype_, {width_}, width_); }
  TensorView PerBatch() { return tensors_.Input(dtype_, {batch_, 1, width_}, width_); }

 private:
  BenchTensors& tensors_;
  Dtype dtype_;
  int64_t width_;
  int64_t batch_;
  std::vector<int64_t> sizes_;
};

template <typename Args>
using Op = absl::Status (*)(const Args&, const Execution&);

struct Named {
  const char* op;
  const char* form = "";
};

// A case whose arguments `fill` makes from tensors.
template <typename Args, typename Fill>
BenchCase Case(Named named, Op<Args> op, BenchSize size, Dtype dtype, const Fill& fill) {
  return {.op = named.op,
          .shape = absl::StrCat(size.rows, "x", size.width, named.form),
          .dtype = dtype,
          .units = size.rows,
          .period = kPeriod,
          .make = [=](BenchTensors& tensors, int64_t rows) -> BenchOp {
            RowTensors made(tensors, dtype, rows, size.width);
            Args args;
            fill(made, args);
            return [op, args](const Execution& run) { return op(args, run); };
          }};
}

}  // namespace

void AddNormCases(BenchSize size, Dtype dtype, std::vector<BenchCase>& cases) {
  const auto plain = [](RowTensors& tensors, auto& args) {
    args.x = tensors.In();
    args.out = tensors.Out();
  };
  cases.push_back(Case<RmsNormArgs>({"rms_norm"}, RmsNorm, size, dtype, [=](auto& t, auto& args) {
    plain(t, args);
    args.weight = t.Vector();
  }));
  cases.push_back(Case<RmsNormArgs>({"rms_norm", " weightless"}, RmsNorm, size, dtype, plain));
  cases.push_back(Case<FusedArgs>({"layer_norm"}, LayerNorm, size, dtype, plain));
  cases.push_back(Case<FusedArgs>({"layer_norm", " weight and bias"}, LayerNorm, size, dtype,
                                  [=](auto& t, auto& args) {
                                    plain(t, args);
                                    args.weight = t.Vector();
                                    args.bias = t.Vector();
                                  }));
  const auto residual = [](RowTensors& tensors, auto& args) {
    args.x = tensors.In();
    args.residual = tensors.In();
    args.weight = tensors.Vector();
    args.out = tensors.Out();
    args.sum = tensors.Out();
  };
  cases.push_back(Case<FusedArgs>({"rms_norm_residual"}, RmsNormResidual, size, dtype, residual));
  cases.push_back(
      Case<FusedArgs>({"layer_norm_residual"}, LayerNormResidual, size, dtype, residual));
}

void AddModulationCases(BenchSize size, Dtype dtype, std::vector<BenchCase>& cases) {
  const auto modulated = [](RowTensors& tensors, auto& args) {
    args.x = tensors.In();
    args.scale = tensors.PerBatch();
    args.shift = tensors.PerBatch();
    args.out = tensors.Out();
  };
  cases.push_back(Case<FusedArgs>({"adaln_rms_norm"}, AdalnRmsNorm, size, dtype, modulated));
  cases.push_back(Case<FusedArgs>({"adaln_layer_norm"}, AdalnLayerNorm, size, dtype, modulated));
  cases.push_back(Case<FusedArgs>({"adaln_zero"}, AdalnZero, size, dtype, [=](auto& t, auto& a) {
    modulated(t, a);
    a.gate = t.PerBatch();
  }));
  cases.push_back(Case<FusedArgs>({"adaln_rms_norm", " [B,S,D] vectors"}, AdalnRmsNorm, size, dtype,
                                  [](auto& t, auto& args) {
                                    args.x = t.In();
                                    args.scale = t.In();
                                    args.shift = t.In();
                                    args.out = t.Out();
                                  }));
  cases.push_back(
      Case<FusedArgs>({"gate_residual"}, GateResidual, size, dtype, [](auto& t, auto& args) {
        args.x = t.In();
        args.residual = t.In();
        args.residual_gate = t.PerBatch();
        args.sum = t.Out();
      }));
  cases.push_back(Case<FusedArgs>({"gate_residual_adaln"}, GateResidualAdaln, size, dtype,
                                  [=](auto& t, auto& args) {
                                    modulated(t, args);
                                    args.residual = t.In();
                                    args.residual_gate = t.PerBatch();
                                    args.sum = t.Out();
                                  }));
  // In every block of LTX-Video: the attention over the prompt has no gate.
  cases.push_back(Case<FusedArgs>({"gate_residual_adaln", " without gate"}, GateResidualAdaln, size,
                                  dtype, [=](auto& t, auto& args) {
                                    modulated(t, args);
                                    args.residual = t.In();
                                    args.sum = t.Out();
                                  }));
}

void AddCodedCases(BenchSize size, Dtype dtype, Dtype codes, std::vector<BenchCase>& cases) {
  const bool is_e4m3 = codes == Dtype::kE4m3;
  const auto plain = [=](RowTensors& tensors, auto& args) {
    args.x = tensors.In();
    args.out = tensors.Codes(codes);
    args.out_scale = tensors.RowScales();
  };
  const auto modulated = [=](RowTensors& tensors, auto& args) {
    plain(tensors, args);
    args.scale = tensors.PerBatch();
    args.shift = tensors.PerBatch();
  };
  const auto added = [=](RowTensors& tensors, auto& args) {
    modulated(tensors, args);
    args.residual = tensors.In();
    args.sum = tensors.Out();
  };
  const auto gated = [=](RowTensors& tensors, auto& args) {
    added(tensors, args);
    args.residual_gate = tensors.PerBatch();
  };
  const char* const to = is_e4m3 ? " to e4m3" : " to int8";
  if (is_e4m3) {
    cases.push_back(
        Case<RmsNormArgs>({"rms_norm", " weightless to e4m3"}, RmsNorm, size, dtype, plain));
  }
  cases.push_back(Case<FusedArgs>({"adaln_rms_norm", to}, AdalnRmsNorm, size, dtype, modulated));
  cases.push_back(
      Case<FusedArgs>({"gate_residual_adaln", to}, GateResidualAdaln, size, dtype, gated));
  cases.push_back(Case<FusedArgs>(
      {"gate_residual_adaln", is_e4m3 ? " without gate to e4m3" : " without gate to int8"},
      GateResidualAdaln, size, dtype, added));
}

}  // namespace reel::kernels
