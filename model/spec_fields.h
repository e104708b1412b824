// SPDX-License-Identifier: Apache-2.0
// The fields of a request, by their names in the API: one list, of which messages, JSON and
// defaults are made. A visitor is called with each name ("encoding.crf": of a message inside) and
// with that field of each spec.
#pragma once

#include <concepts>
#include <type_traits>

#include "model/field_name.h"
#include "model/generation_spec.h"

namespace reel::model {

// What a card or a preset may give where a request leaves it out; of steps and timesteps see
// FillFrom.
template <typename Visitor, typename... Spec>
void VisitDefaults(Visitor& visit, Spec&... spec) {
  visit("negative_prompt"_field, spec.negative_prompt...);
  visit("width"_field, spec.width...);
  visit("height"_field, spec.height...);
  visit("num_frames"_field, spec.num_frames...);
  visit("frame_rate"_field, spec.frame_rate...);
  visit("guidance_scale"_field, spec.guidance_scale...);
  visit("guidance_rescale"_field, spec.guidance_rescale...);
  visit("audio_guidance_scale"_field, spec.audio_guidance_scale...);
  visit("audio_guidance_rescale"_field, spec.audio_guidance_rescale...);
  visit("stg_scale"_field, spec.stg_scale...);
  visit("audio_stg_scale"_field, spec.audio_stg_scale...);
  visit("modality_scale"_field, spec.modality_scale...);
  visit("audio_modality_scale"_field, spec.audio_modality_scale...);
  visit("stg_blocks"_field, spec.stg_blocks...);
  visit("denoise_strength"_field, spec.denoise_strength...);
  visit("image_condition_noise_scale"_field, spec.image_condition_noise_scale...);
  visit("decode_timestep"_field, spec.decode_timestep...);
  visit("decode_noise_scale"_field, spec.decode_noise_scale...);
  visit("max_text_tokens"_field, spec.max_text_tokens...);
  visit("condition_crf"_field, spec.condition_crf...);
  visit("normalise_loudness"_field, spec.normalise_loudness...);
  visit("encoding.codec"_field, spec.encoding.codec...);
  visit("encoding.crf"_field, spec.encoding.crf...);
  visit("encoding.speed"_field, spec.encoding.speed...);
  visit("encoding.origin"_field, spec.encoding.origin...);
}

// These, and all else that a file is made from.
template <typename Visitor, typename... Spec>
void VisitContent(Visitor& visit, Spec&... spec) {
  VisitDefaults(visit, spec...);
  visit("model"_field, spec.model...);
  visit("preset"_field, spec.preset...);
  visit("prompt"_field, spec.prompt...);
  visit("num_inference_steps"_field, spec.num_inference_steps...);
  visit("timesteps"_field, spec.timesteps...);
  visit("seed"_field, spec.seed...);
  visit("conditions"_field, spec.conditions...);
  visit("condition_pipeline"_field, spec.condition_pipeline...);  // not of the API
  visit("kernels.profile"_field, spec.kernels.profile...);
  visit("kernels.variants"_field, spec.kernels.variants...);
  visit("kernels.experiment"_field, spec.kernels.experiment...);
  visit("kernels.arm"_field, spec.kernels.arm...);
  visit("cache.threshold"_field, spec.cache.threshold...);
  visit("cache.most_reused"_field, spec.cache.most_reused...);
  visit("adapters"_field, spec.adapters...);
  visit("sound"_field, spec.sound...);
  visit("stop_after_pass"_field, spec.stop_after_pass...);
  visit("preview.every_steps"_field, spec.preview.every_steps...);
  visit("preview.max_side"_field, spec.preview.max_side...);
}

// Of this machine and of other videos, beside what a file is made from.
template <typename Visitor, typename... Spec>
void VisitFields(Visitor& visit, Spec&... spec)
  requires(std::same_as<std::remove_const_t<Spec>, GenerationSpec> && ...)
{
  VisitContent(visit, spec...);
  visit("keep_state"_field, spec.keep_state...);
  visit("worker"_field, spec.worker...);
  visit("source"_field, spec.source...);
}

}  // namespace reel::model
