// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "kernels/dispatch/host_threads.h"
#include "kernels/rows/fused_norm.h"
#include "kernels/rows/row_operands.h"
#include "kernels/rows/row_vectors.h"

namespace reel::kernels {
namespace {

// The fp32 buffers of one call, and the addresses of a row's vectors.
struct Scratch {
  float* v;
  float* a;
  float* b;
  const RowShape& vectors;
  int64_t vector = 0;
};

REEL_INLINE void LoadBiased(const RowOperand& operand, const RowOperand& bias, const Scratch& rows,
                            float* out, float* scratch) {
  LoadFloats(rows.vectors, operand, rows.vector, out);
  if (bias.data == nullptr) return;
  LoadFloats(rows.vectors, bias, rows.vector, scratch);
  for (int64_t i = 0; i < rows.vectors.width; ++i) out[i] += scratch[i];
}

REEL_INLINE void AddResidual(const FusedNormParams& params, int64_t row, const Scratch& rows) {
  const int64_t width = params.shape.width;
  float* v = rows.v;
  float* a = rows.a;
  if (params.residual.data == nullptr) return;
  if (params.residual_gate.data == nullptr) {
    LoadFloats(params.shape, params.residual, row, a);
    for (int64_t i = 0; i < width; ++i) v[i] += a[i];
    return;
  }
  LoadBiased(params.residual_gate, params.residual_gate_bias, rows, rows.b, a);
  LoadFloats(params.shape, params.residual, row, a);
  const float* gate = rows.b;
  for (int64_t i = 0; i < width; ++i) v[i] += a[i] * gate[i];
}

REEL_INLINE void Normalise(const FusedNormParams& params, float* v) {
  const int64_t width = params.shape.width;
  const auto count = static_cast<float>(width);
  if (params.statistic == Statistic::kNone) return;
  if (params.statistic == Statistic::kVariance) {
    const float mean = LaneSum(width, [&](int64_t i) { return v[i]; }) / count;
    for (int64_t i = 0; i < width; ++i) v[i] -= mean;
  }
  const float squares = LaneSum(width, [&](int64_t i) { return v[i] * v[i]; });
  const float rstd = 1.0f / std::sqrt(squares / count + params.eps);
  for (int64_t i = 0; i < width; ++i) v[i] *= rstd;
}

REEL_INLINE void Finish(const FusedNormParams& params, const Scratch& rows) {
  const int64_t width = params.shape.width;
  float* v = rows.v;
  float* a = rows.a;
  if (params.weight.data != nullptr) {
    LoadFloats(rows.vectors, params.weight, rows.vector, a);
    for (int64_t i = 0; i < width; ++i) v[i] *= a[i];
  }
  if (params.bias.data != nullptr) {
    LoadFloats(rows.vectors, params.bias, rows.vector, a);
    for (int64_t i = 0; i < width; ++i) v[i] += a[i];
  }
  if (params.scale.data != nullptr) {
    LoadBiased(params.scale, params.scale_bias, rows, a, rows.b);
    for (int64_t i = 0; i < width; ++i) v[i] *= 1.0f + a[i];
  }
  if (params.shift.data != nullptr) {
    LoadBiased(params.shift, params.shift_bias, rows, a, rows.b);
    for (int64_t i = 0; i < width; ++i) v[i] += a[i];
  }
  if (params.gate.data != nullptr) {
    LoadBiased(params.gate, params.gate_bias, rows, a, rows.b);
    for (int64_t i = 0; i < width; ++i) v[i] *= a[i];
  }
}

void Rows(const FusedNormParams& params, int64_t first, int64_t end) {
  const int64_t width = params.shape.width;
  std::vector<float> storage(static_cast<size_t>(3 * width));
  const RowShape vectors = VectorShape(params);
  Scratch rows{storage.data(), storage.data() + width, storage.data() + 2 * width, vectors};
  WithWidestVectors([&] {
    for (int64_t row = first; row < end; ++row) {
      rows.vector = VectorRow(params, row);
      LoadFloats(params.shape, params.x, row, rows.v);
      AddResidual(params, row, rows);
      if (params.sum.data != nullptr) StoreFloats(params.shape, params.sum, row, rows.v);
      if (params.out.data == nullptr) continue;
      Normalise(params, rows.v);
      Finish(params, rows);
      StoreFloats(params.shape, params.out, row, rows.v);
    }
  });
}

}  // namespace

bool FusedNormCpuAccepts(const FusedNormParams& p) {
  return !HasCodes(p.out) && SideBySide(p.x, p.residual, p.residual_gate, p.residual_gate_bias,
                                        p.weight, p.bias, p.scale, p.scale_bias, p.shift,
                                        p.shift_bias, p.gate, p.gate_bias, p.sum, p.out);
}

void FusedNormCpu(const FusedNormParams& params, const HostThreads* threads) {
  DivideRows(threads, params.shape.rows, params.shape.width,
             [&](int64_t first, int64_t end) { Rows(params, first, end); });
}

}  // namespace reel::kernels
