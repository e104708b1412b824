// SPDX-License-Identifier: Apache-2.0
// Clips that a tiny LTX-Video with an upsampler refines, in one window or in several.
#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/ltx/ltx_model.h"
#include "tests/unit/model/family/drifting_clip.h"
#include "tests/unit/model/ltx/pipeline_run.h"

namespace reel::model::ltx {

inline constexpr int kVideoSide = 96;          // pixels
inline constexpr int kClipSide = 64;           // two thirds
inline constexpr int kPassSide = 128;          // twice the clip's
inline constexpr int kShort = 17, kLong = 97;  // frames
inline constexpr double kFirstNoise = 0.9094;
inline constexpr int kOfAWindow = 3;  // steps

struct RefinedCase {
  std::string name;
  double guidance = 1;
  bool stochastic = false;
};
void PrintTo(const RefinedCase& one, std::ostream* out);

class LtxRefinedClip : public LtxPipeline {
 protected:
  void SetUp() override;
  void Reload();
  void SayInCard(const std::string& json);
  // The scheduler of a model whose steps draw noise.
  void DrawInSteps() const;

  // Resolved as the server has it.
  GenerationSpec Spec(const RefinedCase& one = {}, int frames = kShort,
                      std::optional<double> strength = std::nullopt) const;
  // The same video without a clip, in two passes.
  GenerationSpec Whole(const RefinedCase& one, int frames) const;

  // The model itself; null, and a failure, where it cannot be loaded.
  std::unique_ptr<LtxModel> LoadModel() const;
  // The clip's latents as a first pass would leave them, encoded as a whole.
  at::Tensor EncodedClip(const LtxModel& model, int frames) const;
  at::Tensor UpsampledClip(const LtxModel& model, const GenerationSpec& spec) const;

  // Behind its last step.
  std::unique_ptr<Generation> Made(const GenerationSpec& spec);
  void Finish(Generation& generation);
  at::Tensor LatentsMade(const Generation& generation) const {
    return LatentsOf(*pipeline_, generation).unsqueeze(0);
  }
  std::vector<uint8_t> FramesOfAll(Generation& generation) {
    return DecodeAll(*pipeline_, generation, test_.run).data;
  }

  const c10::InferenceMode no_gradients_;
  const TestRun test_;
  const Ops ops_{test_.run};
  const TinyFolder folder_{"0.9.5"};
  std::unique_ptr<Pipeline> pipeline_;

 private:
  GenerationSpec Resolved(const GenerationSpec& spec) const;
};

// Of a model that takes few frames at a time.
class LtxLongRefinedClip : public LtxRefinedClip {
 protected:
  void SetUp() override;
};

}  // namespace reel::model::ltx
