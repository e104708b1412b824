// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/kernels/bench_case.h"

#include "absl/strings/str_cat.h"
#include "kernels/activation/activation.h"
#include "kernels/adaln/adaln.h"
#include "kernels/base/float_types.h"
#include "kernels/gate/gate_residual.h"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/ltx_rope/ltx_rope.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/rms_norm/rms_norm_residual.h"

namespace reel::kernels {
namespace {

struct RowsShape {
  int64_t rows;
  int64_t width;
};

// A case in the making: tensors of [1, rows, width], and the vectors beside them.
class CaseOf {
 public:
  CaseOf(const char* op, RowsShape shape, Dtype dtype) : shape_(shape), dtype_(dtype) {
    case_.op = op;
    case_.shape = absl::StrCat(shape.rows, "x", shape.width);
    case_.dtype = dtype;
    case_.tensors = std::make_shared<BenchTensors>();
  }

  TensorView Rows(int64_t times_width = 1) {
    return case_.tensors->Make(dtype_, {1, shape_.rows, times_width * shape_.width});
  }
  TensorView Vector() { return case_.tensors->Make(dtype_, {shape_.width}); }
  TensorView PerBatch() { return case_.tensors->Make(dtype_, {1, 1, shape_.width}); }
  TensorView Table() { return case_.tensors->Make(Dtype::kF32, {1, shape_.rows, shape_.width}); }
  CaseOf& Named(const char* suffix) {
    case_.shape += suffix;
    return *this;
  }

  template <typename Args>
  BenchCase Calls(absl::Status (*op)(const Args&, const Execution&), const Args& args) {
    case_.bytes = case_.tensors->bytes();
    case_.run = [op, args](const Execution& run) { return op(args, run); };
    return case_;
  }

 private:
  RowsShape shape_;
  Dtype dtype_;
  BenchCase case_;
};

void AddNorms(RowsShape shape, Dtype dtype, std::vector<BenchCase>& cases) {
  CaseOf weighted("rms_norm", shape, dtype);
  cases.push_back(weighted.Calls(
      RmsNorm,
      {.x = weighted.Rows(), .weight = weighted.Vector(), .bias = {}, .out = weighted.Rows()}));
  CaseOf plain("rms_norm", shape, dtype);
  cases.push_back(
      plain.Named(" weightless")
          .Calls(RmsNorm, {.x = plain.Rows(), .weight = {}, .bias = {}, .out = plain.Rows()}));
  CaseOf residual("rms_norm_residual", shape, dtype);
  cases.push_back(residual.Calls(RmsNormResidual, {.x = residual.Rows(),
                                                   .residual = residual.Rows(),
                                                   .weight = residual.Vector(),
                                                   .y = residual.Rows(),
                                                   .sum = residual.Rows()}));
  CaseOf layer("layer_norm", shape, dtype);
  cases.push_back(
      layer.Calls(LayerNorm, {.x = layer.Rows(), .weight = {}, .bias = {}, .out = layer.Rows()}));
}

void AddModulated(RowsShape shape, Dtype dtype, std::vector<BenchCase>& cases) {
  CaseOf adaln("adaln_rms_norm", shape, dtype);
  AdalnRmsNormArgs norm;
  norm.x = adaln.Rows();
  norm.scale = adaln.PerBatch();
  norm.shift = adaln.PerBatch();
  norm.out = adaln.Rows();
  cases.push_back(adaln.Calls(AdalnRmsNorm, norm));
  CaseOf gate("gate_residual", shape, dtype);
  cases.push_back(gate.Calls(GateResidual, {.x = gate.Rows(),
                                            .y = gate.Rows(),
                                            .gate = gate.PerBatch(),
                                            .gate_bias = {},
                                            .out = gate.Rows()}));
  CaseOf fused("gate_residual_adaln", shape, dtype);
  GateResidualAdalnArgs tail;
  tail.x = fused.Rows();
  tail.y = fused.Rows();
  tail.gate = fused.PerBatch();
  tail.scale = fused.PerBatch();
  tail.shift = fused.PerBatch();
  tail.sum = fused.Rows();
  tail.out = fused.Rows();
  cases.push_back(fused.Calls(GateResidualAdaln, tail));
}

void AddRopeAndActivations(RowsShape shape, Dtype dtype, std::vector<BenchCase>& cases) {
  CaseOf rope("qk_norm_rope", shape, dtype);
  QkNormRopeArgs turn;
  turn.q = rope.Rows();
  turn.q_out = rope.Rows();
  turn.k = rope.Rows();
  turn.k_out = rope.Rows();
  turn.q_weight = rope.Vector();
  turn.k_weight = rope.Vector();
  turn.table = LtxRopeTableView{{}, {}, rope.Table(), rope.Table()};
  cases.push_back(rope.Named(" dense table").Calls(QkNormRope, turn));
  CaseOf gelu("activation", shape, dtype);
  cases.push_back(gelu.Calls(ActivationOp, {.x = gelu.Rows(), .bias = {}, .out = gelu.Rows()}));
  CaseOf gated("gated_activation", shape, dtype);
  cases.push_back(
      gated.Calls(GatedActivation, {.x = gated.Rows(2), .value = {}, .out = gated.Rows()}));
}

}  // namespace

TensorView BenchTensors::Make(Dtype dtype, std::vector<int64_t> sizes) {
  TensorView view = Contiguous(nullptr, dtype, sizes);
  const int64_t bytes = view.num_elements() * DtypeSize(dtype);
  storage_.push_back(std::make_unique<unsigned char[]>(static_cast<size_t>(bytes + 64)));
  const auto address = reinterpret_cast<uintptr_t>(storage_.back().get());
  view.data = storage_.back().get() + (64 - address % 64);
  VisitFloating(dtype, [&]<typename T>(T) {
    auto* data = static_cast<T*>(view.data);
    for (int64_t i = 0; i < view.num_elements(); ++i) {
      data[i] = RoundTo<T>(static_cast<float>(i % 251) / 125.0f - 1.0f);
    }
  });
  bytes_ += bytes;
  return view;
}

std::vector<BenchCase> BenchCases(Dtype dtype, int64_t rows, int64_t width) {
  std::vector<RowsShape> shapes = {{1024, 2048}, {2640, 2048}, {5376, 2048}};
  if (rows > 0) shapes = {{rows, width}};
  std::vector<BenchCase> cases;
  for (const RowsShape& shape : shapes) {
    AddNorms(shape, dtype, cases);
    AddModulated(shape, dtype, cases);
    AddRopeAndActivations(shape, dtype, cases);
  }
  return cases;
}

}  // namespace reel::kernels
