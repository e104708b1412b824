// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/dispatch/Dispatcher.h>

#include <cmath>
#include <optional>
#include <string_view>

#include "model/bridge/e4m3_product.h"
#include "model/bridge/framework_calls.h"

namespace reel::model::aten {
namespace {

// oneDNN's product with an activation in it, which libtorch has for its compiler: no header
// declares it.
using OnednnLinear = at::Tensor(const at::Tensor& x, const at::Tensor& weight,
                                const std::optional<at::Tensor>& bias, std::string_view activation,
                                c10::List<std::optional<at::Scalar>> scalars,
                                std::optional<std::string_view> algorithm);

std::optional<c10::OperatorHandle> FindOnednnLinear() {
  return c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""});
}

// One frame of one clip comes out, so that taps in time are nothing but channels.
bool IsFlat(const Conv3dCall& call) {
  return call.x.device().is_cpu() && call.x.size(0) == 1 && call.x.size(2) == call.weight.size(2) &&
         call.padding[0] == 0 && call.x.is_contiguous() && call.weight.is_contiguous();
}

// Each output frame by a call of its own: libraries choose their algorithms, and vector ends fall,
// by size, which decides the last bits.
void RunByFrame(const Conv3dCall& call) {
  const int64_t window = call.weight.size(2), frames = call.x.size(2) - window + 1;
  std::vector<at::Tensor> outputs(static_cast<size_t>(frames));
  for (int64_t i = 0; i < frames; ++i) {
    const at::Tensor x = call.x.slice(2, i, i + window).contiguous();
    Run(Conv3dCall{x, call.weight, call.bias, call.stride, call.padding,
                   outputs[static_cast<size_t>(i)]});
  }
  call.out = at::cat(outputs, 2).contiguous(at::MemoryFormat::ChannelsLast3d);
}

// In 0..1, cut in the frames' own type as the reference does it.
at::Tensor UnitOf(const at::Tensor& frames) {
  return (frames * 0.5 + 0.5).clamp(0.0, 1.0).to(at::kFloat);
}

at::Tensor Bytes(const at::Tensor& values) {
  return values.round().clamp(0.0, 255.0).to(at::kByte).flatten(1);
}

// A colour difference [F, H, W] at half the size: rows in pairs, columns [1 2 1] around the left.
at::Tensor Halved(const at::Tensor& x) {
  const at::Tensor rows = (x.slice(1, 0, std::nullopt, 2) + x.slice(1, 1, std::nullopt, 2)) / 2;
  const at::Tensor middle = rows.slice(2, 0, std::nullopt, 2);
  const at::Tensor right = rows.slice(2, 1, std::nullopt, 2);
  const at::Tensor left = at::cat({rows.slice(2, 0, 1), right.slice(2, 0, -1)}, 2);
  return (left + 2 * middle + right) / 4;
}

// [B, C t i j, F, H, W] to [B, C, F t, H i, W j], each twice.
at::Tensor Doubled(const at::Tensor& x) {
  const at::Tensor apart = x.unflatten(1, {-1, 2, 2, 2}).permute({0, 1, 5, 2, 6, 3, 7, 4});
  return apart.flatten(6, 7).flatten(4, 5).flatten(2, 3);
}

at::Tensor ChannelNormSilu(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                           double eps) {
  const at::Tensor mean_square = x.to(at::kFloat).pow(2).mean(1, true);
  at::Tensor y = (x * at::rsqrt(mean_square + eps)).to(x.scalar_type());
  if (scale.defined()) y = y * (1 + scale) + shift;
  return at::silu(y);
}

// On a CPU one frame after the other, so that its bits do not depend on how many come at once.
void ChannelNormSiluInto(const ChannelNormSiluCall& call, const at::Tensor& x) {
  const at::Tensor out = call.into->inner();
  const int64_t at_once = x.is_cpu() ? 1 : x.size(2);
  for (int64_t i = 0; i < x.size(2); i += at_once) {
    const at::Tensor frames = x.slice(2, i, i + at_once);
    out.slice(2, i, i + at_once)
        .copy_(ChannelNormSilu(x.is_cpu() ? frames.contiguous() : frames, call.scale, call.shift,
                               call.eps));
  }
  call.into->CopyEnds();
}

at::Tensor DepthToSpace(const at::Tensor& x, const at::Tensor& residual, bool drop_first) {
  at::Tensor out = Doubled(x);
  if (residual.defined()) {
    out = out + Doubled(residual).repeat({1, x.size(1) / residual.size(1), 1, 1, 1});
  }
  return drop_first ? out.slice(2, 1) : out;
}

at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  return at::rms_norm(x, {x.size(-1)}, OrNone(weight), eps);
}

// T5's: rounded before the weight, and again.
at::Tensor RmsNormRoundedFirst(const at::Tensor& x, const at::Tensor& weight, double eps) {
  const at::Tensor wide = x.to(at::kFloat);
  const at::Tensor scaled = wide * at::rsqrt(wide.pow(2).mean(-1, true) + eps);
  return weight * scaled.to(weight.scalar_type());
}

// Vectors as they broadcast over the call's rows.
at::Tensor Taken(const NormCall& call, const at::Tensor* vectors) {
  if (vectors == nullptr) return {};
  if (!vectors->defined() || call.vector_of == nullptr || !call.vector_of->defined()) {
    return *vectors;
  }
  return vectors->flatten(0, 1)
      .index_select(0, call.vector_of->flatten())
      .unflatten(0, call.vector_of->sizes());
}

at::Tensor Normed(const NormCall& call, const at::Tensor& sum) {
  const auto vector = [](const at::Tensor* v) { return v == nullptr ? std::nullopt : OrNone(*v); };
  const int64_t width = sum.size(-1);
  if (call.of.statistic == kernels::Statistic::kMeanSquare) {
    return at::rms_norm(sum, {width}, vector(call.weight), call.eps);
  }
  return at::layer_norm(sum, {width}, vector(call.weight), vector(call.bias), call.eps);
}

at::Tensor LtxRope(const at::Tensor& x, const RopeTable& table) {
  const at::Tensor pairs = x.unflatten(2, {-1, 2});  // [B, S, D/2, 2]
  const at::Tensor turned = at::stack({-pairs.select(-1, 1), pairs.select(-1, 0)}, -1).flatten(2);
  return (x.to(at::kFloat) * table.dense().cos + turned.to(at::kFloat) * table.dense().sin)
      .to(x.scalar_type());
}

at::Tensor Rgb8(const at::Tensor& frames) {
  return (UnitOf(frames) * 255.0).round().to(at::kByte).permute({0, 2, 3, 1}).contiguous();
}

at::Tensor I420(const at::Tensor& frames) {
  const at::Tensor rgb = UnitOf(frames);
  const at::Tensor red = rgb.select(1, 0), blue = rgb.select(1, 2);
  const at::Tensor luma = 0.2126 * red + 0.7152 * rgb.select(1, 1) + 0.0722 * blue;
  return at::cat({Bytes(16 + 219 * luma), Bytes(128 + 224 / 1.8556 * Halved(blue - luma)),
                  Bytes(128 + 224 / 1.5748 * Halved(red - luma))},
                 1);
}

}  // namespace

void Run(const RmsNormCall& call) {
  call.out = call.round_before_weight ? RmsNormRoundedFirst(call.x, call.weight, call.eps)
                                      : RmsNorm(call.x, call.weight, call.eps);
}

void Run(const NormCall& call) {
  at::Tensor sum = call.x;
  if (call.y != nullptr) {
    const at::Tensor gate = Taken(call, call.gate);
    sum = gate.defined() ? call.x + *call.y * gate : call.x + *call.y;
  }
  if (call.sum != nullptr) *call.sum = sum;
  if (call.out == nullptr) return;
  const at::Tensor normed = Normed(call, sum);
  *call.out = call.scale == nullptr
                  ? normed
                  : normed * (1 + Taken(call, call.scale)) + Taken(call, call.shift);
}

void Run(const QkNormRopeCall& call) {
  call.q_out = LtxRope(RmsNorm(call.x, call.q_weight, call.eps), call.table);
  call.k_out = LtxRope(RmsNorm(call.k, call.k_weight, call.eps), call.table);
}

void Run(const AttentionCall& call) {
  call.out =
      at::scaled_dot_product_attention(call.x, call.k, call.v, OrNone(call.bias), 0.0, false,
                                       call.scale == 0 ? std::nullopt : std::optional(call.scale));
}

void Run(const AttentionRestCall& call) {
  const double width = static_cast<double>(call.x.size(-1));
  const double scale = call.scale == 0 ? 1 / std::sqrt(width) : call.scale;
  const int64_t keys = call.k.size(-2);
  const at::Tensor q = call.x.to(at::kFloat) * scale;
  const at::Tensor scores = q.matmul(call.k.to(at::kFloat).transpose(-2, -1));
  const at::Tensor weights = at::cat({scores, call.log_sums.unsqueeze(-1)}, -1).softmax(-1);
  const at::Tensor sums = weights.slice(-1, 0, keys).matmul(call.v.to(at::kFloat));
  call.out = (sums + weights.slice(-1, keys) * call.before).to(call.x.scalar_type());
}

void Run(const GeluTanhCall& call) { call.out = at::gelu(call.x, "tanh"); }

void Run(const LinearCall& call) { call.out = at::linear(call.x, call.weight, OrNone(call.bias)); }

std::string_view WhyNotLinear(const LinearCall& call) {
  return call.scales == nullptr ? "" : "its operands are codes with scales";
}

void Run(const Conv3dCall& call) {
  if (call.taps != nullptr) return RunByFrame(call);
  if (IsFlat(call)) {
    // oneDNN does it in a third to a half of the time of the same in three dimensions.
    const at::Tensor flat =
        at::conv2d(call.x.flatten(1, 2), call.weight.flatten(1, 2), OrNone(call.bias),
                   at::IntArrayRef(call.stride).slice(1), at::IntArrayRef(call.padding).slice(1));
    call.out = flat.unsqueeze(2);
    return;
  }
  call.out = at::conv3d(call.x, call.weight, OrNone(call.bias), call.stride, call.padding);
}

void Run(const LinearGeluCall& call) {
  if (call.scales != nullptr) return RunE4m3Gelu(call);
  call.out = at::gelu(at::linear(call.x, call.weight, call.bias), "tanh");
}

void RunEpilogue(const LinearGeluCall& call) {
  if (call.x.is_cpu()) {
    call.out = FindOnednnLinear()->typed<OnednnLinear>().call(
        call.x, call.weight, OrNone(call.bias), "gelu", c10::List<std::optional<at::Scalar>>(),
        "tanh");
    return;
  }
  const at::Tensor rows = call.x.reshape({-1, call.x.size(-1)});
  auto sizes = call.x.sizes().vec();
  sizes.back() = call.weight.size(0);
  call.out = at::_addmm_activation(call.bias, rows, call.weight.t(), 1, 1, true).view(sizes);
}

// Where libtorch hands the GELU to the matrix product's library; elsewhere it would compose another
// GELU, by erf.
std::string_view WhyNoEpilogue(const LinearGeluCall& call) {
  if (call.scales != nullptr) return "its operands are e4m3 with scales";
  const auto type = call.x.scalar_type();
  if (call.x.is_cpu()) {
    const bool takes = type == at::kFloat && call.x.numel() > 0 && at::hasMKLDNN() &&
                       FindOnednnLinear().has_value();
    return takes ? "" : "on a CPU it needs fp32 and a libtorch with oneDNN";
  }
  const bool takes = call.x.is_cuda() && (type == at::kBFloat16 || type == at::kHalf) &&
                     call.weight.size(0) % 8 == 0 && call.weight.size(1) % 8 == 0 &&
                     call.x.numel() > 0;
  return takes ? "" : "it needs 16-bit types on a GPU and sides that are multiples of 8";
}

void Run(const StepCacheCall& call) { call.out = call.x + call.kept; }

// Op by op in the tensors' type, as T5 does.
void Run(const GatedGeluCall& call) {
  const double root = std::sqrt(2.0 / M_PI);
  const at::Tensor inner = root * (call.x + 0.044715 * at::pow(call.x, 3.0));
  call.out = 0.5 * call.x * (1.0 + at::tanh(inner)) * call.value;
}

void Run(const ChannelNormSiluCall& call) {
  const at::Tensor sum = call.frames.Made();
  if (call.sum.defined()) call.sum.copy_(sum);
  if (call.into != nullptr) return ChannelNormSiluInto(call, sum);
  call.out = ChannelNormSilu(sum, call.scale, call.shift, call.eps);
}

void Run(const DepthToSpaceCall& call) {
  const at::Tensor biased = FrameSum{call.x, {}, call.frames.bias}.Made();
  call.out = DepthToSpace(biased, call.frames.residual, call.drop_first);
}

void Run(const FrameConvertCall& call) { call.out = call.planes ? I420(call.x) : Rgb8(call.x); }

}  // namespace reel::model::aten
