// SPDX-License-Identifier: Apache-2.0
// Describes each operator that is a fused norm (fused_norm.h) once: its checks, variants, trials of
// plug-ins and torch schemas follow from this. Included by nvcc too.
//
// rms_norm has more options than the family, and parameters of its own.
#pragma once

#include "kernels/rows/fused_norm_layout.h"

namespace reel::kernels {

struct FusedOp {
  const char* name;
  Statistic statistic;
  unsigned parts;      // flags of fused_norm_layout.h
  bool bias = false;   // kAffine is a weight, or a weight and a bias; each may be absent
  bool codes = false;  // the output can be e4m3 or int8 instead
  bool sm90 = false;   // has a variant for Hopper
  double eps = 1e-6;   // by default

  constexpr bool has(unsigned part) const { return (parts & part) != 0; }
};

inline constexpr FusedOp kRmsNormResidual = {.name = "rms_norm_residual",
                                             .statistic = Statistic::kMeanSquare,
                                             .parts = kResidual | kAffine | kSum | kNormed};
inline constexpr FusedOp kLayerNorm = {.name = "layer_norm",
                                       .statistic = Statistic::kVariance,
                                       .parts = kAffine | kNormed,
                                       .bias = true,
                                       .eps = 1e-5};
inline constexpr FusedOp kLayerNormResidual = {.name = "layer_norm_residual",
                                               .statistic = Statistic::kVariance,
                                               .parts = kResidual | kAffine | kSum | kNormed,
                                               .bias = true,
                                               .eps = 1e-5};
inline constexpr FusedOp kAdalnRmsNorm = {.name = "adaln_rms_norm",
                                          .statistic = Statistic::kMeanSquare,
                                          .parts = kAffine | kModulation | kNormed | kVectorOf,
                                          .codes = true,
                                          .sm90 = true};
inline constexpr FusedOp kAdalnLayerNorm = {.name = "adaln_layer_norm",
                                            .statistic = Statistic::kVariance,
                                            .parts = kAffine | kModulation | kNormed,
                                            .bias = true,
                                            .sm90 = true,
                                            .eps = 1e-5};
inline constexpr FusedOp kAdalnZero = {.name = "adaln_zero",
                                       .statistic = Statistic::kMeanSquare,
                                       .parts = kAffine | kModulation | kOutputGate | kNormed,
                                       .sm90 = true};
inline constexpr FusedOp kGateResidual = {.name = "gate_residual",
                                          .statistic = Statistic::kNone,
                                          .parts = kResidual | kResidualGate | kSum | kVectorOf,
                                          .sm90 = true};
inline constexpr FusedOp kGateResidualAdaln = {
    .name = "gate_residual_adaln",
    .statistic = Statistic::kMeanSquare,
    .parts = kResidual | kResidualGate | kModulation | kSum | kNormed | kVectorOf,
    .codes = true,
    .sm90 = true};

inline constexpr const FusedOp* kFusedOps[] = {
#define REEL_FUSED_OPERATOR(op, name, ...) &k##name,
#include "kernels/operators.def"
#undef REEL_FUSED_OPERATOR
};

// The parts of an operator's plain calls, as models make them; each has a kernel of its own.
struct PlainCalls {
  unsigned parts[3] = {};
  int count = 0;
};
constexpr PlainCalls PlainCallsOf(const FusedOp& op) {
  PlainCalls calls;
  calls.parts[calls.count++] = op.parts & ~kAffine;
  // Norms with a weight are common; modulated ones have none in any model here.
  const bool weighted = op.has(kAffine) && !op.has(kModulation);
  if (weighted) calls.parts[calls.count++] = op.parts;
  if (weighted && op.bias) calls.parts[calls.count++] = op.parts | kBias;
  // Attention to a prompt has no gate.
  if (op.has(kResidualGate)) calls.parts[calls.count++] = op.parts & ~kAffine & ~kResidualGate;
  return calls;
}
inline bool IsPlainCall(const FusedOp& op, const FusedNormParams& params) {
  const PlainCalls calls = PlainCallsOf(op);
  for (int i = 0; i < calls.count; ++i) {
    if (HasPlainParts(params, calls.parts[i] | CodesOf(params.out.dtype))) return true;
  }
  return false;
}

// The CUDA variants, each instantiated in a .cu file of the operator's folder. Plain calls:
template <const FusedOp& kOp>
int32_t LaunchFusedSm80(const FusedNormParams& params, void* stream);
template <const FusedOp& kOp>
int32_t LaunchFusedSm90(const FusedNormParams& params, void* stream);
// Plain calls whose output is e4m3.
template <const FusedOp& kOp>
int32_t LaunchFusedE4m3Sm80(const FusedNormParams& params, void* stream);
template <const FusedOp& kOp>
int32_t LaunchFusedE4m3Sm90(const FusedNormParams& params, void* stream);
// And int8.
template <const FusedOp& kOp>
int32_t LaunchFusedInt8Sm90(const FusedNormParams& params, void* stream);
// Any call over rows of 16-byte vectors, with an output in their type.
template <const FusedOp& kOp>
int32_t LaunchFusedGeneralSm80(const FusedNormParams& params, void* stream);
// Any call.
template <const FusedOp& kOp>
int32_t LaunchFusedGeneric(const FusedNormParams& params, void* stream);

}  // namespace reel::kernels
