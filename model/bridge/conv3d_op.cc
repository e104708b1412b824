// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <vector>

#include "kernels/dispatch/run_op.h"
#include "model/bridge/conv3d_call.h"
#include "model/bridge/conv_by_taps.h"
#include "model/bridge/framework_variants.h"
#include "model/bridge/libtorch_variant.h"
#include "model/bridge/operator_variants.h"
#include "model/bridge/ops.h"
#include "model/bridge/or_none.h"
#include "model/bridge/tuned_convolutions.h"

namespace reel::model {
namespace {

using aten::Conv3dCall;
using kernels::Execution;

// One frame of one clip comes out, so that taps in time are nothing but channels.
bool IsFlat(const Conv3dCall& call) {
  return call.x.device().is_cpu() && call.x.size(0) == 1 && call.x.size(2) == call.weight.size(2) &&
         call.padding[0] == 0 && call.x.is_contiguous() && call.weight.is_contiguous();
}

void RunWhole(const Conv3dCall& call) {
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

// Each output frame by a call of its own: libraries choose their algorithms, and vector ends fall,
// by size, which decides the last bits.
void RunByFrame(const Conv3dCall& call) {
  const int64_t window = call.weight.size(2), frames = call.x.size(2) - window + 1;
  std::vector<at::Tensor> outputs(static_cast<size_t>(frames));
  for (int64_t i = 0; i < frames; ++i) {
    const at::Tensor x = call.x.slice(2, i, i + window).contiguous();
    RunWhole(Conv3dCall{{.x = x,
                         .weight = call.weight,
                         .bias = call.bias,
                         .out = outputs[static_cast<size_t>(i)],
                         .stride = call.stride,
                         .padding = call.padding}});
  }
  call.out = at::cat(outputs, 2).contiguous(at::MemoryFormat::ChannelsLast3d);
}

void RunConv3d(const Conv3dCall& call) {
  return call.taps != nullptr ? RunByFrame(call) : RunWhole(call);
}

}  // namespace

void AddConv3dVariants(kernels::KernelCatalog& catalog) {
  using Place = kernels::KernelCatalog::Place;
  constexpr std::string_view kOp = Conv3dCall::op;
  catalog.AddFramework({MakeTunedConvolution(), AtenVariant<RunConv3d>(kOp)}, Place::kFirst);
  if (catalog.capability().device >= 0) return;
  catalog.AddFramework(
      {MakeLibtorchVariant(
          {.op = kOp, .variant = kTapsVariant, .for_some_sizes = true},
          {.run = kUntyped<aten::RunByTaps>, .why_not = kUntyped<aten::WhyNotByTaps>})},
      Place::kFirst);
}

at::Tensor Ops::Conv3d(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                       const aten::Sides& stride, const aten::Sides& padding,
                       const aten::FrameTaps* taps) const {
  at::Tensor out;
  const Conv3dCall call = {
      {.x = x, .weight = weight, .bias = &bias, .out = out, .stride = stride, .padding = padding},
      taps};
  Call(call, [&](const Execution& run) {
    std::vector<int64_t> sizes = {x.size(0), weight.size(0)};
    for (size_t d = 0; d < stride.size(); ++d) {
      const auto side = static_cast<int64_t>(d) + 2;
      sizes.push_back((x.size(side) + 2 * padding[d] - weight.size(side)) / stride[d] + 1);
    }
    out = at::empty(sizes, x.options(), x.suggest_memory_format());
    return kernels::Conv3d(ViewsOf<kernels::Conv3dOperands>(call), run);
  });
  return out;
}

}  // namespace reel::model
