// SPDX-License-Identifier: Apache-2.0
// The one formula behind the fused norms, adaptive norms and gates; an operator fills the parts
// that it has. Included by nvcc too.
//
//   v   = x + residual * (residual_gate + residual_gate_bias)
//   sum = round(v)
//   n   = (v - mean) * rstd * weight + bias
//   out = round( (n * (1 + scale + scale_bias) + shift + shift_bias) * (gate + gate_bias) )
//
// or out as e4m3 or int8 with a scale for each row (e4m3_layout.h, int8_layout.h), of the same
// unrounded.
#pragma once

#include "kernels/rows/e4m3_layout.h"
#include "kernels/rows/row_layout.h"

namespace reel::kernels {

struct HostThreads;

enum class Statistic : int32_t {
  kNone,        // n = v
  kMeanSquare,  // mean = 0, rstd = 1 / sqrt(mean(v^2) + eps)
  kVariance,    // mean and biased variance of v, in two passes
};

struct FusedNormParams {
  RowShape shape;
  RowOperand x;
  RowOperand residual, residual_gate, residual_gate_bias;
  RowOperand weight, bias;
  RowOperand scale, scale_bias, shift, shift_bias;
  RowOperand gate, gate_bias;
  RowOperand sum;  // absent: not written
  RowOperand out;  // absent: not written, and no statistic is taken
  Statistic statistic = Statistic::kMeanSquare;
  float eps = 0;
  CodeScale out_scale;  // if out is codes
  // For each row, in order, the index of its vectors (scale, shift, gates), which are the first
  // stride apart. Null: vectors have the leading dims of rows.
  const int32_t* vector_of = nullptr;
};

// The index of a row's vectors on the host, as RowOffset takes it.
inline RowShape VectorShape(const FusedNormParams& p) {
  if (p.vector_of == nullptr) return p.shape;
  return {.rows = p.shape.rows, .width = p.shape.width, .dims = 1, .sizes = {p.shape.rows}};
}
inline int64_t VectorRow(const FusedNormParams& p, int64_t row) {
  return p.vector_of == nullptr ? row : p.vector_of[row];
}

void FusedNormLoops(const FusedNormParams& params);
bool FusedNormCpuAccepts(const FusedNormParams& params);
void FusedNormCpu(const FusedNormParams& params, const HostThreads* threads);
// Rows of 16-byte vectors: with an output in their type, in e4m3, and in int8.
bool FusedNormVectorAccepts(const FusedNormParams& params);
bool FusedNormE4m3Accepts(const FusedNormParams& params);
bool FusedNormInt8Accepts(const FusedNormParams& params);

}  // namespace reel::kernels
