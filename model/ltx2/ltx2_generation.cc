// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/ltx2_generation.h"

namespace reel::model::ltx2 {
namespace {

at::Tensor Moved(const at::Tensor& t, at::Device where) { return t.defined() ? t.to(where) : t; }

TextContext Moved(const TextContext& text, at::Device where) {
  return {Moved(text.tokens, where), Moved(text.bias, where)};
}

Pins Moved(const Pins& pins, at::Device where) {
  return {Moved(pins.mask, where), Moved(pins.clean, where), Moved(pins.free, where),
          Moved(pins.free_of, where), pins.exact};
}

StreamTables Moved(const StreamTables& tables, at::Device where) {
  return tables.own.index().defined() ? tables.To(where) : tables;
}

}  // namespace

int Ltx2Generation::later_steps() const {
  if (refined) return static_cast<int>(refined->pictures.windows_left()) * state.schedule.steps();
  return goes_on() ? second_pass->schedule.steps() : 0;
}

// With a wanted loudness all frames wait for the last sound, since it is measured over the whole.
int64_t Ltx2Generation::latents_that_stay() const {
  if (!refined) return 0;
  if (!spec.sound.value_or(true) || refined->knows_sound) return LatentsThatStay(*this);
  const bool waits = spec.normalise_loudness && SoundPiecesThatStay(*this) < sound_pieces();
  return waits ? 0 : LatentsWithSound(*this);
}

int Ltx2Generation::sound_pieces() const {
  return refined ? static_cast<int>(SoundPieces(*refined).size()) : 1;
}

int Ltx2Generation::sound_pieces_that_stay() const {
  return refined ? SoundPiecesThatStay(*this) : 1;
}

at::Tensor Ltx2Generation::PictureLatents() const {
  if (refined) return RefinedPictures(*this).to(device);
  return UnpackLatents(state.latents.video.slice(1, 0, sizes.video.tokens()), sizes.video);
}

at::Tensor Ltx2Generation::SoundLatents() const {
  if (refined) return RefinedSound(*this).to(device);
  return UnpackAudio(state.latents.audio, sizes.mel_bins);
}

int64_t Ltx2Generation::rows() const {
  const bool next_is_second = goes_on() && (made.has_value() || (ready && state.is_done()));
  if (next_is_second) return TokensOf(second_pass->sizes.video);
  const StreamGuidance& guidance = state.guidance;
  const int64_t of_a_token = 1 + (guidance.uses_negative() ? 1 : 0) +
                             (guidance.uses_perturbed() ? 1 : 0) +
                             (guidance.uses_isolated() ? 1 : 0);
  return TokensOf(sizes.video) * of_a_token;
}

std::map<std::string, at::Generator> Ltx2Generation::generators() const {
  std::map<std::string, at::Generator> all = {{kGenerator, generator},
                                              {kStepGenerator, state.step_generator}};
  if (decode_generator.has_value()) all[kDecodeGenerator] = *decode_generator;
  return all;
}

// The prompt's row is a view of the texts.
std::vector<at::Tensor> Ltx2Generation::tensors() const {
  std::vector<at::Tensor> all = {state.latents.video,      state.latents.audio,
                                 state.texts.video.tokens, state.texts.video.bias,
                                 state.texts.audio.tokens, state.texts.audio.bias};
  for (const Pins* pins : {&state.pins, &state.audio_pins}) {
    all.insert(all.end(), {pins->mask, pins->clean, pins->free, pins->free_of});
  }
  for (const StreamTables* tables : {&state.video_tables, &state.audio_tables}) {
    for (const RopeTable* table : {&tables->own, &tables->cross}) {
      all.insert(all.end(), {table->cos_sin(), table->index()});
    }
  }
  return all;
}

void Ltx2Generation::MoveTo(at::Device where) {
  if (!ready) return;  // its texts are those that the model remembers
  DenoiseState there = state;
  there.latents = {state.latents.video.to(where), state.latents.audio.to(where)};
  there.pins = Moved(state.pins, where);
  there.audio_pins = Moved(state.audio_pins, where);
  there.texts = {Moved(state.texts.video, where), Moved(state.texts.audio, where)};
  there.prompt = PromptOf(there.texts);
  there.video_tables = Moved(state.video_tables, where);
  there.audio_tables = Moved(state.audio_tables, where);
  state = std::move(there);  // all of it, or nothing
}

}  // namespace reel::model::ltx2
