// SPDX-License-Identifier: Apache-2.0
// An operator as a model calls it, which is what libtorch's variants take: tensors, some of them
// undefined, and where the result goes. Borrowed for one call.
//
// Run is the variant "aten": libtorch itself, in the reference's order of operations and roundings,
// which the profile "reference" runs.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/rows/fused_ops_launch.h"
#include "model/bridge/aten.h"
#include "model/bridge/frame_sum.h"
#include "model/bridge/rope_table.h"

namespace reel::model::aten {

// As libtorch takes what may be absent.
inline std::optional<at::Tensor> OrNone(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

// Of frames, rows and columns.
using Sides = std::array<int64_t, 3>;

struct RmsNormCall {
  static constexpr std::string_view op = "rms_norm";
  const at::Tensor& x;
  const at::Tensor& weight;
  double eps;
  bool round_before_weight;
  at::Tensor& out;
};
void Run(const RmsNormCall& call);

// A fused norm, with the parts that its operator has; absent ones are null or undefined.
//   sum = x + y * gate
//   out = norm(sum) * weight + bias, or norm(sum) * (1 + scale) + shift
// With `vector_of`, int32 [B, S], gate, scale and shift are [M, 1, D], and each row takes that
// which it is told.
struct NormCall {
  const kernels::FusedOp& of;
  const at::Tensor& x;
  const at::Tensor *y = nullptr, *gate = nullptr;
  const at::Tensor *weight = nullptr, *bias = nullptr;
  const at::Tensor *scale = nullptr, *shift = nullptr;
  const at::Tensor* vector_of = nullptr;
  double eps = 0;
  at::Tensor *sum = nullptr, *out = nullptr;

  std::string_view op() const { return of.name; }
};
void Run(const NormCall& call);

struct QkNormRopeCall {
  static constexpr std::string_view op = "qk_norm_rope";
  const at::Tensor& x;  // q
  const at::Tensor& q_weight;
  const at::Tensor& k;
  const at::Tensor& k_weight;
  double eps;
  const RopeTable& table;
  at::Tensor& q_out;
  at::Tensor& k_out;
};
void Run(const QkNormRopeCall& call);

// q [B, N, S, Dh], k and v [B, N, L, Dh]; `bias` [1 or B, 1 or N, 1 or S, L] or undefined; scale 0
// is 1/sqrt(Dh).
struct AttentionCall {
  std::string_view op;  // attention or cross_attention
  const at::Tensor& x;  // q
  const at::Tensor& k;
  const at::Tensor& v;
  const at::Tensor& bias;
  double scale;
  at::Tensor& out;
  // Where it is given, a variant may leave the last keys, at most 128, to attention_rest, and says
  // what it has met.
  struct KeysMet {
    int64_t count = 0;    // 0: all
    at::Tensor log_sums;  // the logarithms of their sums, fp32 [B, N, S]
  };
  KeysMet* met = nullptr;
};
// libtorch chooses among its kernels (attention_variants.h).
void Run(const AttentionCall& call);

// Further keys for queries whose output so far is `before` [B, N, S, Dh], of keys whose sums have
// these logarithms, fp32 [B, N, S].
struct AttentionRestCall {
  static constexpr std::string_view op = "attention_rest";
  const at::Tensor& x;  // q
  const at::Tensor& k;
  const at::Tensor& v;
  const at::Tensor& before;
  const at::Tensor& log_sums;
  double scale;
  at::Tensor& out;
};
void Run(const AttentionRestCall& call);

struct GeluTanhCall {
  static constexpr std::string_view op = "activation";
  const at::Tensor& x;
  at::Tensor& out;
};
void Run(const GeluTanhCall& call);

// With scales x and weight are codes, e4m3 or int8, and the result is of `type`.
struct LinearScales {
  const at::Tensor& rows;     // fp32 [...], of x
  const at::Tensor& outputs;  // fp32 [out], of the weight
  at::ScalarType type;
};
struct LinearCall {
  static constexpr std::string_view op = "linear";
  const at::Tensor& x;
  const at::Tensor& weight;
  const at::Tensor& bias;
  at::Tensor& out;
  const LinearScales* scales = nullptr;
};
void Run(const LinearCall& call);
// Why the plain product is not for this call: its operands are codes.
std::string_view WhyNotLinear(const LinearCall& call);

// Of a convolution's weight, each tap in time as oneDNN wants it (conv_by_taps.h); may be none.
struct FrameTaps {
  std::vector<at::Tensor> packed;
};
// With taps no frame's value depends on how many others there are.
struct Conv3dCall {
  static constexpr std::string_view op = "conv3d";
  const at::Tensor& x;
  const at::Tensor& weight;
  const at::Tensor& bias;
  const Sides& stride;
  const Sides& padding;
  at::Tensor& out;
  const FrameTaps* taps = nullptr;
};
void Run(const Conv3dCall& call);

// With scales x, the weight and the result are e4m3 codes; fp32 [1] each.
struct LinearGeluScales {
  const at::Tensor& x;
  const at::Tensor& weight;
  const at::Tensor& to_out;
};
struct LinearGeluCall {
  static constexpr std::string_view op = "linear_gelu";
  const at::Tensor& x;
  const at::Tensor& weight;
  const at::Tensor& bias;
  at::Tensor& out;
  const LinearGeluScales* scales = nullptr;
};
void Run(const LinearGeluCall& call);
// The activation inside the matrix product, before its one rounding, and why it cannot be had ("":
// it can).
void RunEpilogue(const LinearGeluCall& call);
std::string_view WhyNoEpilogue(const LinearGeluCall& call);

// What blocks added when they ran last, in their stead.
struct StepCacheCall {
  static constexpr std::string_view op = "step_cache";
  const at::Tensor& x;
  const at::Tensor& kept;
  at::Tensor& out;
};
void Run(const StepCacheCall& call);

struct GatedGeluCall {
  static constexpr std::string_view op = "gated_activation";
  const at::Tensor& x;  // the gate
  const at::Tensor& value;
  at::Tensor& out;
};
void Run(const GatedGeluCall& call);

// Of a sum. Into frames that are there (`into`), the sum itself into `sum` where that is defined;
// or with neither to `out`.
struct ChannelNormSiluCall {
  static constexpr std::string_view op = "channel_norm_silu";
  const at::Tensor& x;  // of `frames`
  const FrameSum& frames;
  const at::Tensor& scale;
  const at::Tensor& shift;
  double eps;
  const PaddedFrames* into;
  const at::Tensor& sum;
  at::Tensor& out;
};
void Run(const ChannelNormSiluCall& call);

struct DepthToSpaceCall {
  static constexpr std::string_view op = "depth_to_space";
  const at::Tensor& x;  // of `frames`
  const FrameSum& frames;
  bool drop_first;
  at::Tensor& out;
};
void Run(const DepthToSpaceCall& call);

// Frames [F, 3, H, W] in -1..1 to RGB [F, H, W, 3], or to planes [F, 3/2 H W].
struct FrameConvertCall {
  static constexpr std::string_view op = "frame_convert";
  const at::Tensor& x;
  bool planes;
  at::Tensor& out;
};
void Run(const FrameConvertCall& call);

}  // namespace reel::model::aten
