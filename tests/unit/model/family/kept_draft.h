// SPDX-License-Identifier: Apache-2.0
// Drafts and promotions of a pipeline, and requests that hold latents of a video, with the state
// between them as the file that keeps it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/pipeline.h"
#include "model/states/video_state.h"

namespace reel::model {

inline GenerationSpec DraftOf(GenerationSpec whole) {
  whole.stop_after_pass = 1;
  return whole;
}

inline GenerationSpec PromotionOf(GenerationSpec whole) {
  whole.source = reel::model::Source{.begin = reel::model::Source::Begin::kPromote};
  return whole;
}

inline GenerationSpec RetakeOf(GenerationSpec whole, double begin, double end) {
  whole.source = reel::model::Source{.begin = reel::model::Source::Begin::kRetake};
  whole.source->retake.begin = begin;
  whole.source->retake.end = end;
  whole.seed = *whole.seed + 1;
  return whole;
}

inline GenerationSpec ExtensionOf(GenerationSpec whole, int num_frames, int overlap_frames) {
  whole.source = reel::model::Source{.begin = reel::model::Source::Begin::kExtend};
  whole.source->extend = {num_frames, overlap_frames};
  whole.num_frames = num_frames + overlap_frames;
  whole.seed = *whole.seed + 1;
  return whole;
}

// The file that keeps what a generation has made. Conditions, which tests draw as pixels, get
// bytes.
inline std::string FileOf(const Pipeline& pipeline, const Generation& generation,
                          GenerationSpec spec) {
  for (Condition& condition : spec.conditions) {
    condition.bytes = std::make_shared<const std::string>("as sent");
  }
  const auto made = pipeline.State(generation);
  EXPECT_TRUE(made.ok()) << made.status();
  return made.ok() ? WriteState(spec, pipeline.card(), *made) : "";
}

// Ready to step. A failure is reported, and null.
inline std::unique_ptr<Generation> BeginFrom(Pipeline& pipeline, const GenerationSpec& going_on,
                                             const std::string& file,
                                             const kernels::Execution& run) {
  const auto state = ReadState(file);
  EXPECT_TRUE(state.ok()) << state.status();
  if (!state.ok()) return nullptr;
  auto generation = pipeline.CreateFrom(going_on, state->made, run);
  EXPECT_TRUE(generation.ok()) << generation.status();
  for (absl::StatusOr<bool> ready = false; generation.ok() && ready.ok() && !*ready;) {
    ready = pipeline.BeginNext(**generation, run);
    EXPECT_TRUE(ready.ok()) << ready.status();
  }
  return generation.ok() ? *std::move(generation) : nullptr;
}

// Why a request cannot begin from these values.
inline absl::Status Refusal(Pipeline& pipeline, const GenerationSpec& going_on,
                            const PassState& made, const kernels::Execution& run) {
  return pipeline.CreateFrom(going_on, made, run).status();
}

// Changes of a state that every family refuses, by what the refusal names.
inline std::vector<std::pair<std::string, PassState>> Spoilt(const PassState& made) {
  std::vector<std::pair<std::string, PassState>> all;
  for (const auto& [name, tensor] : made.tensors) {
    PassState without = made;
    without.tensors.erase(name);
    all.emplace_back(name, without);
    PassState shorter = made;
    StateTensor& less = shorter.tensors[name];
    less.bytes.resize(less.bytes.size() / 2);
    all.emplace_back(tensor.type == StateTensor::Type::kF32 ? name : "generator", shorter);
    if (tensor.type != StateTensor::Type::kF32) continue;
    PassState turned = made;
    std::swap(turned.tensors[name].shape[1], turned.tensors[name].shape[2]);
    if (turned.tensors[name].shape != tensor.shape) all.emplace_back(name, turned);
    PassState retyped = made;
    retyped.tensors[name].type = StateTensor::Type::kU8;
    all.emplace_back(name, retyped);
  }
  return all;
}

}  // namespace reel::model
