// SPDX-License-Identifier: Apache-2.0
// The operators that a model is made of, on tensors. kernels/dispatch alone chooses by the
// request's plan which variant runs, libtorch's or one of kernels/. Each call is counted, and on
// sampled steps timed, under its key and variant.
#pragma once

#include <string_view>
#include <utility>

#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/run_op.h"
#include "model/bridge/aten.h"
#include "model/bridge/call_operands.h"
#include "model/bridge/conv3d_call.h"
#include "model/bridge/frame_sum.h"
#include "model/bridge/linear_calls.h"
#include "model/bridge/rope_table.h"
#include "model/bridge/rows.h"

namespace reel::model {

// Modulation of a norm, borrowed for a call.
struct Modulation {
  const at::Tensor& scale;
  const at::Tensor& shift;
  double eps;
  at::Tensor vector_of = {};
};

// A value for one call of a pipeline; throws what libtorch throws, and KernelError, both for
// TorchGuard. Vectors (scale, shift, gate) are [B, 1 or S, D]. With `vector_of`, int32 [B, S], they
// are [M, 1, D], and each row takes the one with its number. An undefined tensor: no such vector.
class Ops {
 public:
  // What `run` refers to is borrowed. `cpu` variants get libtorch's threads.
  explicit Ops(const kernels::Execution& run);

  const kernels::Execution& run() const { return run_; }

  // The same for calls on rows of requests that have adapters. fp32 [..., columns]: by how much
  // each row takes what stands in a column (LowRankColumns). Undefined: as they were loaded.
  Ops WithAdapters(at::Tensor scales) const;
  const at::Tensor& adapter_scales() const { return adapter_scales_; }

  // Over the last dimension, in fp32, rounded once.
  at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& weight, double eps) const;
  // T5's: rounded before the weight, and again.
  at::Tensor RmsNormRoundedFirst(const at::Tensor& x, const at::Tensor& weight, double eps) const;
  at::Tensor LayerNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                       double eps) const;
  // norm(x) * (1 + scale) + shift
  // Into `out` where it is defined, as GateResidualAdaln.
  at::Tensor AdalnRmsNorm(const at::Tensor& x, const Modulation& modulation,
                          at::Tensor out = {}) const;
  at::Tensor AdalnLayerNorm(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                            double eps) const;
  // x + y * gate; without a gate x + y.
  at::Tensor GateResidual(const at::Tensor& x, const at::Tensor& y, const at::Tensor& gate,
                          const at::Tensor& vector_of = {}) const;
  // sum = x + y * gate; out = rms(sum) * (1 + scale) + shift. Into what `result` has of
  // both, by the variants of kernels/; libtorch's bring memory of their own.
  struct SumAndNorm {
    at::Tensor sum, out;
  };
  SumAndNorm GateResidualAdaln(const at::Tensor& x, const at::Tensor& y, const at::Tensor& gate,
                               const Modulation& modulation, SumAndNorm result = {}) const;
  // RMS norms of q and k [B, S, D] over the full width, then pairs of channels turned.
  struct Normed {
    at::Tensor q, k;
  };
  Normed QkNormRope(const at::Tensor& q, const at::Tensor& q_weight, const at::Tensor& k,
                    const at::Tensor& k_weight, double eps, const RopeTable& table) const;
  // The same of q or k alone, where they have different tokens.
  at::Tensor NormRope(const at::Tensor& x, const at::Tensor& weight, double eps,
                      const RopeTable& table) const;
  // Into `out`, where it is defined.
  at::Tensor GeluTanh(const at::Tensor& x, at::Tensor out = {}) const;
  // x W^T + b, x [..., in], W [out, in], b [out] or undefined.
  at::Tensor Linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) const;
  // x W^T + b of codes, to `type`.
  at::Tensor Linear(const Rows& x, const CodedWeight& weight, const at::Tensor& bias,
                    at::ScalarType type) const;
  // x [B, C, F, H, W], W [C', C, kf, kh, kw], b [C'] or undefined; zeros beyond the edges. With
  // aten::TapsOf the weight, even none, a frame has the same bits however many come with it.
  at::Tensor Conv3d(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                    const aten::Sides& stride, const aten::Sides& padding,
                    const aten::FrameTaps* taps = nullptr) const;
  // gelu_tanh(x W^T + b), x [..., in], W [out, in], b [out]. The variant "epilogue" has the GELU in
  // the matrix product, before its one rounding. With scales all but the bias are e4m3. Some
  // variants leave `room` behind each row of the result, which is a view then.
  at::Tensor LinearGelu(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                        const aten::LinearGeluScales* scales = nullptr, int64_t room = 0) const;
  // gelu_tanh(gate) * value; "aten" makes the gelu op by op in the tensors' type, as T5 does.
  at::Tensor GatedGelu(const at::Tensor& gate, const at::Tensor& value) const;
  // Each head of x [..., N Dh] times 2 sigmoid of its logit [..., N].
  at::Tensor HeadGate(const at::Tensor& x, const at::Tensor& logits, at::Tensor out = {}) const;
  // x [B, C, F, H, W]: RMS over channels, then * (1 + scale) + shift where given ([B, C, 1, 1, 1]),
  // then SiLU.
  at::Tensor ChannelNormSilu(const at::Tensor& x, const at::Tensor& scale,
                             const at::Tensor& shift) const;
  // The same of a sum, in one pass, into the frames that the next convolution reads. The sum itself
  // goes into `sum` where that is defined.
  void ChannelNormSiluInto(const FrameSum& frames, const at::Tensor& scale, const at::Tensor& shift,
                           const PaddedFrames& out, const at::Tensor& sum) const;
  // Channels to twice the frames, rows and columns. [B, 8 C, F, H, W] becomes [B, C, 2 F, 2 H, 2
  // W], or one frame less if the first is dropped. Adds `bias` [8 C] and `residual` [B, 8 R, F, H,
  // W], repeated along the channels, if they are defined.
  at::Tensor DepthToSpace(const FrameSum& frames, bool drop_first) const;
  // Pictures [1, 3, F, H, W] in -1..1 to 8 bits. RGB is [F, H, W, 3]; planes Y, U, V of BT.709 in
  // limited range, chroma at the left column, are [F, 3/2 H W]. Sides are even.
  at::Tensor Rgb8(const at::Tensor& pictures) const;
  at::Tensor I420(const at::Tensor& pictures) const;

  // Runs one call by the variant that the plan takes, also for operators that are functions in
  // files of their own. A variant of libtorch runs `call`, which holds the results; otherwise
  // `kernels` allocates them and calls the operator of kernels/.
  template <typename OfOp>
  void Call(const OfOp& call, kernels::KernelsOp kernels) const {
    Call(call.op, call.x.scalar_type(), &call, kernels);
  }
  void Call(std::string_view op, at::ScalarType type, const void* call,
            kernels::KernelsOp kernels) const;
  // The same of a call that is the operator's own operands. `allocate` gives memory to outputs.
  template <auto kOperator, template <typename> class Operands, typename Allocate>
  void Run(std::string_view op, const Operands<Tensors>& call, const Allocate& allocate) const {
    Call(op, call.x.scalar_type(), &call, [&](const kernels::Execution& run) {
      allocate();
      return kOperator(ViewsOf(call), run);
    });
  }

 private:
  kernels::Execution run_;
  at::Tensor adapter_scales_;
};

}  // namespace reel::model
