// SPDX-License-Identifier: Apache-2.0
// The work that waits for each model, in device time. It is estimated from the model's latest
// videos, which every server reads in the same log, so all servers agree.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model/generation_spec.h"
#include "server/front/fleet/model_pace.h"

namespace reel::front {

// What a video's time goes with, well enough for a sum of many: pixels, frames, steps.
int64_t PixelStepsOf(const model::GenerationSpec& spec);

// Confined to one thread.
class FleetBacklog {
 public:
  struct Load {
    int queued = 0, claimed = 0;
    int64_t work = 0;  // of both
    ModelPace pace;    // of the latest that ended
    // Whether a video of the model has ended yet.
    bool is_known() const { return pace.is_known(); }
    double seconds() const;                // of a device; until it is known, a guess
    double SecondsOf(int64_t part) const;  // of its work; zero until it is known
  };

  void Add(const std::string& model, bool claimed, int64_t work) {
    Change(model, claimed, work, 1);
  }
  void Remove(const std::string& model, bool claimed, int64_t work) {
    Change(model, claimed, work, -1);
  }
  // Videos have ended with results.
  void SetPaces(const std::map<std::string, ModelPace>& paces);
  void Clear() { models_.clear(); }

  const std::map<std::string, Load>& models() const { return models_; }

 private:
  void Change(const std::string& model, bool claimed, int64_t work, int by);

  std::map<std::string, Load> models_;
};

}  // namespace reel::front
