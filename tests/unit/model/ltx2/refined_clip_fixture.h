// SPDX-License-Identifier: Apache-2.0
// Clips that a tiny LTX-2 model with an upsampler refines, in one window or in several.
#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/ltx2/ltx2_model.h"
#include "tests/unit/model/family/drifting_clip.h"
#include "tests/unit/model/ltx2/film.h"

namespace reel::model::ltx2 {

inline constexpr int kFilmWidth = 192, kFilmHeight = 128;
inline constexpr int kOfALatent = 24;  // tokens of a latent frame

// By default of the size that such a film is refined from.
inline std::shared_ptr<ConditionPixels> Drifting(int frames, int width = kFilmWidth / 2,
                                                 int height = kFilmHeight / 2) {
  return DriftingClip(frames, width, height);
}
std::shared_ptr<const ConditionSound> ToneOf(SoundFormat format, double seconds, double hertz);

struct RefinedCase {
  const char *name, *variant, *preset;
};
void PrintTo(const RefinedCase& one, std::ostream* out);

class Ltx2RefinedClip : public ::testing::TestWithParam<RefinedCase> {
 protected:
  void SetUp() override;
  // Resolved as the server has it.
  GenerationSpec Spec(int frames = 17, std::optional<double> strength = std::nullopt) const;
  // With a sound of the clip's own, as long as the film or as it says.
  GenerationSpec WithSound(GenerationSpec spec, double seconds = 0) const;
  // The model itself; null, and a failure, where it cannot be loaded.
  std::unique_ptr<Ltx2Model> LoadModel() const;
  // Tokens of the clip as a whole, before any noise.
  at::Tensor UpsampledClip(int frames) const;
  Film FilmOf(const GenerationSpec& spec) { return Make(*pipeline_, spec); }
  std::vector<std::string> NoticesOf(const GenerationSpec& spec);

  const TestRun test_;
  std::unique_ptr<TinyFolder> folder_;
  std::unique_ptr<Pipeline> pipeline_;
};

// The pipeline of a model that takes few frames at a time.
class Ltx2LongRefinedClip : public Ltx2RefinedClip {
 protected:
  static constexpr int kClipFrames = 97;

  void SetUp() override;
};

}  // namespace reel::model::ltx2
