// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/ltx_generation.h"

namespace reel::model::ltx {

int LtxGeneration::later_steps() const {
  if (refined) return static_cast<int>(refined->windows_left()) * pass().all;
  return goes_on() ? second_pass->steps() : 0;
}

int64_t LtxGeneration::latents_that_stay() const {
  if (!refined || decodes_whole) return 0;
  const PassSteps window = pass();
  return LatentsThatStay(*refined, ready && window.done == window.all);
}

at::Tensor LtxGeneration::PictureLatents() const {
  if (!refined) return state.Latents();
  return WithPart(refined->latents, refined->place(), state.Latents()).to(device);
}

int64_t LtxGeneration::rows() const {
  const bool first_is_over = made.has_value() || (ready && state.step == state.schedule.steps());
  if (!first_is_over || !goes_on()) {
    return planned_tokens * state.guidance.most_rows();
  }
  // What conditions add are frames of their own.
  const LatentShape& next = second_pass->shape;
  const int64_t extra = state.tokens.extra / (state.shape.height * state.shape.width);
  return (next.frames + extra) * next.height * next.width *
         second_pass->recipe.guidance.most_rows();
}

std::vector<at::Tensor> LtxGeneration::tensors() const {
  std::vector<at::Tensor> all = state.text.tensors();
  all.insert(all.end(),
             {state.tokens.x, state.tokens.mask, state.tokens.initial, state.rope.cos_sin(),
              state.rope.index(), state.times.rows().embedded, state.times.rows().rows,
              state.cache.first(), state.cache.others(), embeddings, text_mask});
  return all;
}

void LtxGeneration::MoveTo(at::Device where) {
  const auto moved = [where](const at::Tensor& t) { return t.defined() ? t.to(where) : t; };
  DenoiseState there = state;
  there.tokens.x = moved(state.tokens.x);
  there.tokens.mask = moved(state.tokens.mask);
  there.times = state.times.To(where, there.tokens.mask);
  there.tokens.initial = moved(state.tokens.initial);
  there.text = state.text.With(moved);
  if (state.rope.index().defined()) there.rope = state.rope.To(where);
  there.cache = state.cache.To(where);
  there.shares.clear();
  at::Tensor embeddings_there = moved(embeddings), mask_there = moved(text_mask);
  state = std::move(there);  // all of it, or nothing
  embeddings = std::move(embeddings_there);
  text_mask = std::move(mask_there);
}

}  // namespace reel::model::ltx
