// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/conv_by_taps.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <string_view>
#include <vector>

#include "model/bridge/or_none.h"

namespace reel::model::aten {
namespace {

using Scalars = c10::List<std::optional<at::Scalar>>;
using Convolve = at::Tensor(const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, at::IntArrayRef padding,
                            at::IntArrayRef stride, at::IntArrayRef dilation, int64_t groups,
                            std::string_view activation, Scalars scalars,
                            std::optional<std::string_view> algorithm);
using ConvolveOnto = at::Tensor&(at::Tensor& sum, const at::Tensor& x, const at::Tensor& weight,
                                 const std::optional<at::Tensor>& bias, at::IntArrayRef padding,
                                 at::IntArrayRef stride, at::IntArrayRef dilation, int64_t groups,
                                 std::string_view operation, std::optional<at::Scalar> alpha,
                                 std::optional<std::string_view> activation, Scalars scalars,
                                 std::optional<std::string_view> algorithm);
using Pack = at::Tensor(const at::Tensor& weight, at::IntArrayRef padding, at::IntArrayRef stride,
                        at::IntArrayRef dilation, int64_t groups,
                        at::OptionalIntArrayRef input_size);

// A larger one is of many channels, beside whose sums laying it out is little.
constexpr int64_t kMostBytes = int64_t{8} << 20;

std::optional<c10::OperatorHandle> Find(const char* name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchema({name, overload});
}
std::optional<c10::OperatorHandle> FindPack() {
  return Find("mkldnn::_reorder_convolution_weight");
}
std::optional<c10::OperatorHandle> FindConvolve() { return Find("mkldnn::_convolution_pointwise"); }
std::optional<c10::OperatorHandle> FindConvolveOnto() {
  return Find("mkldnn::_convolution_pointwise_", "binary");
}

// Frames as a batch of pictures, [F, C, H, W], whose channels lie side by side.
at::Tensor Pictures(const at::Tensor& x) {
  return x.squeeze(0).transpose(0, 1).contiguous(at::MemoryFormat::ChannelsLast);
}

}  // namespace

FrameTaps TapsOf(const at::Tensor& weight) {
  const bool takes = weight.defined() && weight.is_cpu() && weight.scalar_type() == at::kFloat &&
                     static_cast<int64_t>(weight.nbytes()) <= kMostBytes && at::hasMKLDNN() &&
                     FindPack().has_value() && FindConvolve().has_value() &&
                     FindConvolveOnto().has_value();
  FrameTaps taps;
  if (!takes) return taps;
  const int64_t padding[] = {weight.size(3) / 2, weight.size(4) / 2}, one[] = {1, 1};
  for (int64_t i = 0; i < weight.size(2); ++i) {
    taps.packed.push_back(FindPack()->typed<Pack>().call(weight.select(2, i).contiguous(), padding,
                                                         one, one, 1, std::nullopt));
  }
  return taps;
}

void RunByTaps(const Conv3dCall& call) {
  const at::IntArrayRef padding = at::IntArrayRef(call.padding).slice(1);
  const at::IntArrayRef stride = at::IntArrayRef(call.stride).slice(1);
  const int64_t one[] = {1, 1};
  const std::vector<at::Tensor>& taps = call.taps->packed;
  const at::Tensor pictures = Pictures(call.x);
  const int64_t frames = pictures.size(0) - static_cast<int64_t>(taps.size()) + 1;
  at::Tensor sum = FindConvolve()->typed<Convolve>().call(pictures.slice(0, 0, frames), taps[0],
                                                          OrNone(call.bias), padding, stride, one,
                                                          1, "none", Scalars(), std::nullopt);
  const auto onto = FindConvolveOnto()->typed<ConvolveOnto>();
  for (size_t i = 1; i < taps.size(); ++i) {
    const auto first = static_cast<int64_t>(i);
    onto.call(sum, pictures.slice(0, first, first + frames), taps[i], std::nullopt, padding, stride,
              one, 1, "add", 1.0, std::nullopt, Scalars(), std::nullopt);
  }
  call.out = sum.transpose(0, 1).unsqueeze(0);
}

std::string_view WhyNotByTaps(const Conv3dCall& call) {
  if (call.taps == nullptr || call.taps->packed.empty()) return "its weight has no taps";
  const bool takes = call.x.size(0) == 1 && call.stride[0] == 1 && call.padding[0] == 0;
  return takes ? "" : "it takes the frames of one clip, one by one, without padding in time";
}

}  // namespace reel::model::aten
