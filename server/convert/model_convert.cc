// SPDX-License-Identifier: Apache-2.0
// Converts the client's view of a model's card, and lists of kernels.
#include "server/convert/convert.h"
#include "server/convert/field_convert.h"

namespace reel {
namespace {

using model::operator""_field;

template <typename Visitor, typename ModelLimits>
void VisitLimits(Visitor& visit, ModelLimits& limits) {
  visit("min_size"_field, limits.min_size);
  visit("max_size"_field, limits.max_size);
  visit("max_frames"_field, limits.max_frames);
  visit("max_steps"_field, limits.max_steps);
  visit("max_latent_tokens"_field, limits.max_latent_tokens);
  visit("max_guidance_scale"_field, limits.max_guidance_scale);
  visit("max_frame_rate"_field, limits.max_frame_rate);
  visit("max_text_tokens"_field, limits.max_text_tokens);
  visit("stg_blocks"_field, limits.stg_blocks);
  visit("min_frames"_field, limits.min_frames);
}

void SetSound(const model::SoundFormat& format, v1::SoundFormat& proto) {
  proto.set_sample_rate(format.sample_rate);
  proto.set_channels(format.channels);
}

model::SoundFormat SoundFromProto(const v1::SoundFormat& proto) {
  return {.sample_rate = proto.sample_rate(), .channels = proto.channels()};
}

void SetDefaults(const model::GenerationSpec& values, v1::ModelDefaults& proto) {
  proto.set_width(values.width);
  proto.set_height(values.height);
  proto.set_num_frames(values.num_frames);
  proto.set_frame_rate(values.frame_rate);
  proto.set_num_inference_steps(values.num_steps());
  proto.set_guidance_scale(values.guidance_scale.value_or(0));
  proto.set_negative_prompt(values.negative_prompt.value_or(""));
}

}  // namespace

v1::Model CardToProto(const model::ModelCard& card) {
  v1::Model proto;
  proto.set_name(card.name);
  proto.set_family(card.family);
  proto.set_weights_sha256(card.weights_sha256);
  proto.set_parameters(card.parameters);
  proto.set_weight_bytes(card.weight_bytes);
  proto.set_host_bytes(card.host_bytes);
  proto.set_streamed_bytes(card.streamed_bytes);
  proto.set_weights_form(std::string(model::NameOf(card.weights_form)));
  proto.set_text_form(std::string(model::NameOf(card.text_form)));
  proto.set_decoder(card.decoder);
  proto.set_spatial_multiple(card.spatial_multiple);
  proto.set_temporal_multiple(card.temporal_multiple);
  SetDefaults(card.defaults, *proto.mutable_defaults());
  MessageWriter write_limits(*proto.mutable_limits());
  VisitLimits(write_limits, card.limits);
  proto.set_supports_conditions(card.supports_conditions);
  if (card.sound.exists()) SetSound(card.sound, *proto.mutable_sound());
  if (card.own_sound.exists()) SetSound(card.own_sound, *proto.mutable_own_sound());
  for (const std::string& profile : card.lossy_profiles) proto.add_lossy_kernel_profiles(profile);
  for (const model::Preset& preset : card.presets) proto.add_presets(preset.name);
  for (const model::PromptWords& group : card.prompt_words) {
    v1::PromptWords& added = *proto.add_prompt_words();
    added.set_name(group.name);
    for (const std::string& word : group.words) added.add_words(word);
  }
  for (const model::FixedAdapter& adapter : card.fixed_adapters) {
    v1::Adapter& added = *proto.add_fixed_adapters();
    added.set_name(adapter.name);
    added.set_scale(adapter.scale);
    added.set_sha256(adapter.sha256);
  }
  proto.set_adapter_ranks(card.adapter_ranks);
  for (const model::AdapterOffer& adapter : card.adapters) {
    if (!adapter.tenants.empty()) continue;
    v1::AdapterInfo& added = *proto.add_adapters();
    added.set_name(adapter.name);
    added.set_sha256(adapter.sha256);
    added.set_rank(static_cast<int32_t>(adapter.rank));
    added.set_bytes(adapter.bytes);
    added.set_default_scale(adapter.default_scale);
    added.set_max_scale(adapter.max_scale);
    added.mutable_parts()->Assign(adapter.parts.begin(), adapter.parts.end());
    added.set_wants_reference(adapter.reference.has_value());
    added.set_description(adapter.description);
  }
  return proto;
}

model::ModelCard CardFromProto(const v1::Model& proto) {
  model::ModelCard card;
  card.name = proto.name();
  card.family = proto.family();
  card.weights_sha256 = proto.weights_sha256();
  card.parameters = proto.parameters();
  card.weight_bytes = proto.weight_bytes();
  card.host_bytes = proto.host_bytes();
  card.streamed_bytes = proto.streamed_bytes();
  card.weights_form = model::WeightsFormNamed(proto.weights_form());
  card.text_form = model::WeightsFormNamed(proto.text_form());
  card.decoder = proto.decoder();
  card.spatial_multiple = proto.spatial_multiple();
  card.temporal_multiple = proto.temporal_multiple();
  MessageReader read_limits(proto.limits());
  VisitLimits(read_limits, card.limits);
  card.supports_conditions = proto.supports_conditions();
  card.sound = SoundFromProto(proto.sound());
  card.own_sound = SoundFromProto(proto.own_sound());
  card.lossy_profiles = {proto.lossy_kernel_profiles().begin(),
                         proto.lossy_kernel_profiles().end()};
  for (const v1::PromptWords& group : proto.prompt_words()) {
    card.prompt_words.push_back({group.name(), {group.words().begin(), group.words().end()}});
  }
  for (const v1::Adapter& adapter : proto.fixed_adapters()) {
    card.fixed_adapters.push_back(
        {.name = adapter.name(), .path = "", .scale = adapter.scale(), .sha256 = adapter.sha256()});
  }
  card.adapter_ranks = proto.adapter_ranks();
  for (const v1::AdapterInfo& adapter : proto.adapters()) {
    card.adapters.push_back({.name = adapter.name(),
                             .sha256 = adapter.sha256(),
                             .rank = adapter.rank(),
                             .bytes = adapter.bytes(),
                             .max_scale = adapter.max_scale(),
                             .default_scale = adapter.default_scale(),
                             .parts = {adapter.parts().begin(), adapter.parts().end()},
                             .description = adapter.description()});
    if (adapter.wants_reference()) card.adapters.back().reference.emplace();
  }
  return card;
}

v1::KernelOp ListingToProto(const kernels::OpListing& op, const std::string& worker) {
  v1::KernelOp proto;
  proto.set_op(op.op);
  for (const kernels::VariantListing& variant : op.variants) {
    v1::KernelVariant& added = *proto.add_variants();
    added.set_name(variant.name);
    added.set_origin(variant.origin);
    for (const std::string& dtype : variant.dtypes) added.add_dtypes(dtype);
    added.set_lossy(variant.is_lossy);
    v1::KernelSupport& support = *added.add_support();
    support.set_worker(worker);
    support.set_runs(variant.runs);
    support.set_is_auto(variant.is_auto);
    support.set_reason(variant.reason);
  }
  return proto;
}

kernels::OpListing ListingFromProto(const v1::KernelOp& proto) {
  kernels::OpListing op;
  op.op = proto.op();
  for (const v1::KernelVariant& variant : proto.variants()) {
    kernels::VariantListing& added = op.variants.emplace_back();
    added.name = variant.name();
    added.origin = variant.origin();
    added.dtypes.assign(variant.dtypes().begin(), variant.dtypes().end());
    added.is_lossy = variant.lossy();
    if (variant.support().empty()) continue;
    added.runs = variant.support(0).runs();
    added.is_auto = variant.support(0).is_auto();
    added.reason = variant.support(0).reason();
  }
  return op;
}

v1::KernelPlugin PluginToProto(const kernels::PluginListing& plugin, const std::string& worker) {
  v1::KernelPlugin proto;
  proto.set_name(plugin.name);
  v1::PluginSupport& support = *proto.add_support();
  support.set_worker(worker);
  support.set_loaded(plugin.loaded);
  support.set_reason(plugin.reason);
  support.set_id(plugin.id);
  return proto;
}

kernels::PluginListing PluginFromProto(const v1::KernelPlugin& proto) {
  kernels::PluginListing plugin;
  plugin.name = proto.name();
  if (proto.support().empty()) return plugin;
  plugin.loaded = proto.support(0).loaded();
  plugin.reason = proto.support(0).reason();
  plugin.id = proto.support(0).id();
  return plugin;
}

}  // namespace reel
