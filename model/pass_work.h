// SPDX-License-Identifier: Apache-2.0
// Computes a request's steps and rows from its model's card.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/condition_work.h"
#include "model/generation_spec.h"
#include "model/model_card.h"

namespace reel::model {

struct PassWork {
  int width = 0, height = 0;  // pixels
  int64_t tokens = 0;         // positions that the transformer computes
  int64_t rows = 0;           // rows of each step
  int steps = 0;

  friend bool operator==(const PassWork&, const PassWork&) = default;
};

// A side of a pass, from that of the previous pass or the video; pixels. `multiple` is the card's.
int PassSide(int side, Ratio ratio, int multiple);

// The passes that a preset makes; of an unknown one, or of none, one.
int NumPasses(std::string_view preset, const ModelCard& card);
// Whether any preset makes more than one.
bool HasLaterPasses(const ModelCard& card);

// The passes that a resolved request makes, in order; at least one. A draft makes the first ones, a
// promotion those behind the first: no preset has more than two. A refinement makes the last one,
// once for each of its windows. Of the tokens that conditions add those of a reference clip are
// counted, as if it were as long as the video; others are unknown before decoding.
std::vector<PassWork> PassesOf(const GenerationSpec& resolved, const ModelCard& card);

// The same of the whole video: a draft's passes and those that it leaves out.
std::vector<PassWork> AllPassesOf(const GenerationSpec& resolved, const ModelCard& card);

// Sides of a file's pictures, in pixels.
struct FileSize {
  int width = 0, height = 0;

  friend bool operator==(const FileSize&, const FileSize&) = default;
};

// Of a draft those of its last pass, otherwise those that the request names.
FileSize FileSizeOf(const GenerationSpec& resolved, const ModelCard& card);

// The pass with the most tokens; the first of several.
const PassWork& LargestOf(const std::vector<PassWork>& passes);

// How many of a step's `fill_rows` rows a job with this many rows takes; with more than half it
// takes all. Such a job gains nothing by sharing, and smaller jobs would wait for all of it at each
// step.
int64_t RowsTaken(int64_t rows, int64_t fill_rows);

// When a clip is decoded. Between steps, the decoder's memory is in use during steps as well.
enum class DecodeTime { kBehindSteps, kBetweenSteps };
DecodeTime DecodeTimeOf(const GenerationSpec& resolved, const ModelCard& card);

// Work of a job that takes device memory: its passes, at least one, its conditions and its decode.
struct MemoryWork {
  std::vector<PassWork> passes;
  int64_t clip_pixels = 0;  // in all decoded frames
  DecodeTime decoded = DecodeTime::kBehindSteps;
  ConditionWork conditions = {};
};

// Peak device memory by these costs. Encoder, latent upsampler, steps and decoder run one after the
// other, unless frames are decoded between steps.
int64_t PeakMemoryOf(const MemoryCosts& costs, const MemoryWork& work);
// Peak device memory of a request, by its model's card.
int64_t PeakMemoryOf(const GenerationSpec& resolved, const ModelCard& card);

// The shortest side of a video, in pixels, with which every pass of this preset has the model's
// least side. An unknown preset is one plain pass.
int LeastSide(std::string_view preset, const ModelCard& card);

// What the sides of a video must be multiples of, in pixels. For a preset whose passes end at the
// video's own size: the least side that no pass cuts. Otherwise the card's multiple.
int SideMultiple(std::string_view preset, const ModelCard& card);

}  // namespace reel::model
