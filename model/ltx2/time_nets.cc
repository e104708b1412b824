// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/time_nets.h"

namespace reel::model::ltx2 {

at::Tensor ForTokens(const at::Tensor& vectors, const at::Tensor& vector_of) {
  if (!vector_of.defined()) return vectors;
  return vectors.squeeze(1).index_select(0, vector_of.flatten()).unflatten(0, vector_of.sizes());
}

at::Tensor TimeNets::Net::Embedded(const Ops& ops, const at::Tensor& times) const {
  const at::Tensor& scales = ops.adapter_scales();
  const Ops by = scales.defined()
                     ? ops.WithAdapters(scales.expand({-1, times.size(1), -1}).flatten(0, 1))
                     : ops;
  return embedding(by, times.flatten()).unflatten(0, times.sizes());
}

at::Tensor TimeNets::Net::Rows(const Ops& ops, const at::Tensor& embedded) const {
  return to_rows(ops, at::silu(embedded)).unflatten(2, {-1, embedded.size(2)});
}

TimeNets::Net TimeNets::TakeNet(Weights& weights, const std::string& name, int64_t width,
                                int64_t rows) {
  return {TakeTimestepEmbedding(weights, name + ".emb", width),
          TakeLinear(weights, name + ".linear", width, rows * width)};
}

TimeNets TimeNets::Take(Weights& weights, const TransformerConfig& config, Stream stream) {
  const bool is_video = stream == Stream::kVideo;
  const int64_t width = (is_video ? config.video : config.audio).width();
  const std::string prefix = PrefixOf(stream);
  const std::string cross = is_video ? "av_cross_attn_video" : "av_cross_attn_audio";
  TimeNets nets;
  nets.own_ = TakeNet(weights, prefix + "time_embed", width, config.modulates_text ? 9 : 6);
  nets.cross_ = TakeNet(weights, cross + "_scale_shift", width, 4);
  nets.gate_ = TakeNet(weights, cross + (is_video ? "_a2v_gate" : "_v2a_gate"), width, 1);
  if (config.modulates_text && config.text_by_sigma) {
    nets.text_ = TakeNet(weights, prefix + "prompt_adaln", width, 2);
  }
  nets.gate_time_factor_ = config.gate_time_factor;
  return nets;
}

StreamModulation TimeNets::operator()(const Ops& ops, const StreamTimes& times) const {
  const Ops of_own = times.vector_of.defined() ? ops.WithAdapters(times.adapters) : ops;
  StreamModulation made;
  made.embedded = own_.Embedded(of_own, times.own);
  made.rows = own_.Rows(of_own, made.embedded);
  made.vector_of = times.vector_of;
  if (!times.other_sigma.defined()) made.cross_vector_of = times.vector_of;
  const at::Tensor cross = times.other_sigma.defined() ? times.other_sigma.unsqueeze(1) : times.own;
  const Ops& of_cross = times.other_sigma.defined() ? ops : of_own;
  made.cross_rows = cross_(of_cross, cross);
  made.cross_gate = gate_(of_cross, cross * gate_time_factor_);
  if (text_.to_rows.defined()) made.text_rows = text_(ops, times.sigma.unsqueeze(1));
  return made;
}

}  // namespace reel::model::ltx2
