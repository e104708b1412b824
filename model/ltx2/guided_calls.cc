// SPDX-License-Identifier: Apache-2.0
// Types and the order of operations are the reference's.
#include "model/ltx2/guided_calls.h"

#include <algorithm>
#include <utility>

namespace reel::model::ltx2 {
namespace {

// `of` each clip in a pass, one behind the other.
template <typename Of>
at::Tensor Joined(const std::vector<size_t>& clips, const Of& of) {
  std::vector<at::Tensor> parts;
  for (const size_t clip : clips) parts.push_back(of(clip));
  return parts.size() == 1 ? parts[0] : at::cat(parts);
}

}  // namespace

GuidedCalls::GuidedCalls(TransformerRanks ranks, std::vector<ClipCall> clips)
    : ranks_(std::move(ranks)), clips_(std::move(clips)) {
  const auto add = [&](Kind kind, const auto& is_wanted) {
    Pass pass = {kind, {}};
    for (size_t i = 0; i < clips_.size(); ++i) {
      if (is_wanted(clips_[i].state->guidance)) pass.clips.push_back(i);
    }
    if (!pass.clips.empty()) passes_.push_back(std::move(pass));
  };
  add(Kind::kTexts, [](const StreamGuidance&) { return true; });
  // A model that cannot be perturbed would give the prompt's row again.
  const bool can_perturb = ranks_.first().config().perturbs;
  add(Kind::kPerturbed,
      [&](const StreamGuidance& by) { return can_perturb && by.uses_perturbed(); });
  if (perturbs()) {
    const auto& blocks = clips_[passes_[1].clips[0]].state->guidance.perturbed_blocks;
    apart_.block = static_cast<size_t>(*std::min_element(blocks.begin(), blocks.end()));
  }
  add(Kind::kIsolated, [](const StreamGuidance& by) { return by.uses_isolated(); });
}

void GuidedCalls::Next(const Ops& ops) {
  const Pass& pass = passes_[clean_.size()];
  if (!walk_.has_value()) walk_.emplace(WalkOf(ops, pass));
  if (pass.kind == Kind::kTexts && perturbs() && walk_->at() == apart_.block) {
    apart_.tokens = PromptsOf(walk_->Tokens());
  }
  walk_->Next(ops);
  if (!walk_->done()) return;
  clean_.push_back(CleanBy(pass, walk_->End(ops)));
  walk_.reset();
}

CallWalk GuidedCalls::WalkOf(const Ops& ops, const Pass& pass) {
  const VelocityInputs inputs = InputsOf(pass);
  if (pass.kind != Kind::kPerturbed) return ranks_.Begin(ops, inputs);
  return ranks_.BeginAt(ops, inputs, std::move(apart_));
}

StreamTokens GuidedCalls::PromptsOf(const StreamTokens& texts) const {
  std::vector<int64_t> last;  // of each clip's rows
  for (const size_t clip : passes_[0].clips) {
    last.push_back((last.empty() ? -1 : last.back()) + RowsOf(Kind::kTexts, clip));
  }
  const std::vector<size_t>& clips = passes_[1].clips;
  const auto of = [&](const at::Tensor& rows) {
    return Joined(clips, [&](size_t i) { return rows.slice(0, last[i], last[i] + 1); });
  };
  return {of(texts.video), of(texts.audio)};
}

const PreparedTexts& GuidedCalls::TextsOf(Kind kind, size_t clip) const {
  const DenoiseState& state = *clips_[clip].state;
  return kind == Kind::kTexts ? state.texts : state.prompt;
}

int64_t GuidedCalls::RowsOf(Kind kind, size_t clip) const {
  return TextsOf(kind, clip).video.tokens.size(0);
}

VelocityInputs GuidedCalls::InputsOf(const Pass& pass) const {
  const auto rows = [&](size_t clip) { return RowsOf(pass.kind, clip); };
  const at::Tensor sigma = Joined(pass.clips, [&](size_t i) {
    return at::full({rows(i)}, clips_[i].level.time, clips_[i].latents.video.options());
  });
  // From 2.3 on the other stream's sigma counts towards it, which is the same here.
  const bool sees_other = ranks_.first().config().modulates_text;
  const StreamTimes times = {sigma.unsqueeze(1), sigma, sees_other ? sigma : at::Tensor()};
  const DenoiseState& first = *clips_[pass.clips[0]].state;  // places are the same in all
  const auto stream = [&](auto of_tokens, auto of_texts, const StreamTables& tables) {
    StreamInputs inputs = {.x = {}, .times = times, .text = {}, .tables = tables};
    inputs.x = Joined(pass.clips, [&](size_t i) {
      const at::Tensor& latents = clips_[i].latents.*of_tokens;
      return latents.expand({rows(i), -1, -1}).to(ranks_.first().dtype()).contiguous();
    });
    const auto text = [&](size_t i) -> const TextContext& {
      return TextsOf(pass.kind, i).*of_texts;
    };
    inputs.text.tokens = Joined(pass.clips, [&](size_t i) { return text(i).tokens; });
    if (text(pass.clips[0]).bias.defined()) {
      inputs.text.bias = Joined(pass.clips, [&](size_t i) { return text(i).bias; });
    }
    return inputs;
  };
  VelocityInputs inputs = {
      .video = stream(&StreamTokens::video, &PreparedTexts::video, first.video_tables),
      .audio = stream(&StreamTokens::audio, &PreparedTexts::audio, first.audio_tables),
      .is_isolated = pass.kind == Kind::kIsolated};
  inputs.video.times = TimesOf(pass, &DenoiseState::pins, &StreamTokens::video, times);
  inputs.audio.times = TimesOf(pass, &DenoiseState::audio_pins, &StreamTokens::audio, times);
  if (!first.references.is_full()) {  // then the clip is alone
    inputs.video.self_bias = AttentionBias(first.references, inputs.video.x);
  }
  if (clips_[pass.clips[0]].adapters.defined()) {
    inputs.adapters =
        Joined(pass.clips, [&](size_t i) { return clips_[i].adapters.expand({rows(i), -1, -1}); });
  }
  if (first.keyframe_tokens > 0) {
    const at::Tensor& x = inputs.video.x;
    inputs.video.keyframes = at::zeros({x.size(0), x.size(1), 1}, x.options());
    inputs.video.keyframes.slice(1, 0, first.keyframe_tokens).fill_(1);
  }
  if (pass.kind == Kind::kPerturbed) inputs.perturbed_blocks = first.guidance.perturbed_blocks;
  return inputs;
}

// Pinned tokens have times of their own: those of all clips, and which of them a token has.
StreamTimes GuidedCalls::TimesOf(const Pass& pass, Pins DenoiseState::* pins,
                                 at::Tensor StreamTokens::* tokens,
                                 const StreamTimes& times) const {
  const auto pins_of = [&](size_t i) -> const Pins& { return clips_[i].state->*pins; };
  if (std::none_of(pass.clips.begin(), pass.clips.end(),
                   [&](size_t i) { return pins_of(i).exist(); })) {
    return times;
  }
  StreamTimes own = times;
  own.own = Joined(pass.clips, [&](size_t i) {
    const float time = clips_[i].level.time;
    const at::Tensor& free = pins_of(i).free;
    return free.defined() ? free * time : at::full({1, 1}, time, clips_[i].latents.video.options());
  });
  if (clips_[pass.clips[0]].adapters.defined()) {
    own.adapters = Joined(pass.clips, [&](size_t i) {
      const at::Tensor& free = pins_of(i).free;
      return clips_[i].adapters.expand({free.defined() ? free.size(0) : 1, -1, -1});
    });
  }
  int64_t before = 0;
  own.vector_of = Joined(pass.clips, [&](size_t i) {
    const at::Tensor &free = pins_of(i).free, &free_of = pins_of(i).free_of;
    const at::Tensor& x = clips_[i].latents.*tokens;
    const at::Tensor which = free_of.defined()
                                 ? free_of + before
                                 : at::full({1, x.size(1)}, before, x.options().dtype(at::kInt));
    before += free.defined() ? free.size(0) : 1;
    return which.expand({RowsOf(pass.kind, i), -1}).contiguous();
  });
  return own;
}

std::vector<StreamTokens> GuidedCalls::CleanBy(const Pass& pass,
                                               const StreamTokens& velocity) const {
  std::vector<StreamTokens> clean;
  int64_t row = 0;
  for (const size_t i : pass.clips) {
    const auto& [state, latents, level, adapters] = clips_[i];
    const at::Tensor sigma = at::full({}, level.sigma, latents.video.options());
    const int64_t end = row + RowsOf(pass.kind, i);
    const auto of = [&](const at::Tensor& x, const at::Tensor& rows) {
      return x - rows.slice(0, row, end).to(at::kFloat) * sigma;
    };
    clean.push_back({of(latents.video, velocity.video), of(latents.audio, velocity.audio)});
    row = end;
  }
  return clean;
}

std::vector<StreamTokens> GuidedCalls::Clean() const {
  std::vector<StreamTokens> clean;
  for (size_t i = 0; i < clips_.size(); ++i) clean.push_back(CleanOf(i));
  return clean;
}

StreamTokens GuidedCalls::CleanOf(size_t clip) const {
  CleanLatents video, audio;
  for (size_t i = 0; i < passes_.size(); ++i) {
    const std::vector<size_t>& clips = passes_[i].clips;
    const auto at = std::find(clips.begin(), clips.end(), clip);
    if (at == clips.end()) continue;
    const StreamTokens& rows = clean_[i][static_cast<size_t>(at - clips.begin())];
    switch (passes_[i].kind) {
      case Kind::kTexts: {
        const int64_t prompt = rows.video.size(0) - 1;
        video.prompt = rows.video.slice(0, prompt);
        audio.prompt = rows.audio.slice(0, prompt);
        if (prompt == 0) break;
        video.negative = rows.video.slice(0, 0, 1);
        audio.negative = rows.audio.slice(0, 0, 1);
        break;
      }
      case Kind::kPerturbed:
        video.perturbed = rows.video;
        audio.perturbed = rows.audio;
        break;
      case Kind::kIsolated:
        video.isolated = rows.video;
        audio.isolated = rows.audio;
        break;
    }
  }
  const StreamGuidance& guidance = clips_[clip].state->guidance;
  return {GuideByDeltas(video, guidance.video), GuideByDeltas(audio, guidance.audio)};
}

}  // namespace reel::model::ltx2
