// SPDX-License-Identifier: Apache-2.0
// The properties of a request that its costs depend on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/generation_spec.h"
#include "model/model_card.h"
#include "model/pass_work.h"

namespace reel::front {

// The part of a resolved spec that costs depend on.
struct WorkShape {
  std::string model;
  std::string plan;
  std::string where;  // weights, kind of device and build (WorkerRoster::WhereOf); empty for any
  std::vector<model::PassWork> passes;  // empty if not known yet
  int frames = 0;
  int64_t frame_pixels = 0;  // of the whole decoded clip
  int crf = 0;               // how finely it is encoded
  bool weights = false;      // false: a model without weights, which has no slow first step
  int previews = 0;
  int64_t condition_pixels = 0;  // one frame of each picture or clip; all frames of some clips
  int64_t encoded_pixels = 0;    // of these, at a time (model/condition_work.h)
  int64_t memory_formula = 0;    // bytes of device memory, as its card tells
  int64_t streamed_bytes = 0;    // of weights, copied to the device in each step

  int64_t tokens() const;  // of the largest pass
  int64_t rows() const;    // of a step, of the pass with the most
  int steps() const;       // of all passes
  // The pass whose rows are nearest; there must be a pass. Conditions add rows to a pass.
  const model::PassWork& PassWith(int64_t rows) const;
};

WorkShape ShapeOf(const model::GenerationSpec& resolved, const model::ModelCard& card,
                  const std::string& plan);

}  // namespace reel::front
