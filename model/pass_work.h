// SPDX-License-Identifier: Apache-2.0
// The steps and rows of a request, from its model's card alone.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/generation_spec.h"
#include "model/model_card.h"

namespace reel::model {

struct PassWork {
  int width = 0, height = 0;  // pixels
  int64_t tokens = 0;         // positions that the transformer works on
  int64_t rows = 0;           // of each step
  int steps = 0;

  friend bool operator==(const PassWork&, const PassWork&) = default;
};

// A side of a pass, from that of the pass before it, or the video's; pixels. `multiple` is that of
// the card.
int PassSide(int side, Ratio ratio, int multiple);

// Of a resolved request, in order; at least one. Tokens that conditions add are not counted: nobody
// knows them before their pixels are decoded.
std::vector<PassWork> PassesOf(const GenerationSpec& resolved, const ModelCard& card);

// The pass with the most tokens; the first of several.
const PassWork& LargestOf(const std::vector<PassWork>& passes);

// Of the rows after which a step takes no further job, those that a job of so many takes up: with
// more than half of them it fills the step. So large a one gains nothing by company, and whoever is
// small would wait at each of its steps for all of it.
int64_t RowsTaken(int64_t rows, int64_t fill_rows);

// What a job of these passes takes of a device's memory at its fullest, of a clip with so many
// pixels in all its frames.
int64_t PeakMemoryOf(const MemoryCosts& costs, const std::vector<PassWork>& passes,
                     int64_t clip_pixels);

// The shortest side of a video, in pixels, that leaves no pass of this preset without any; the
// card's multiple where the card knows no such preset.
int LeastSide(std::string_view preset, const ModelCard& card);

}  // namespace reel::model
