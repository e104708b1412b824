// SPDX-License-Identifier: Apache-2.0
// Whole calls of LTX-2, from prompts to pictures and sound, against diffusers' pipeline.
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/model/ltx2/film.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

// golden_ltx2_films.py keeps one of so many values.
constexpr int64_t kFrameStride = 31, kWaveStride = 7;

struct FilmCase {
  const char* variant;
  const char* name;
  GenerationSpec spec;
};

std::vector<FilmCase> AllFilms() {
  GenerationSpec guided = TinySpec();
  guided.guidance_scale = 3;
  guided.guidance_rescale = 0.7;
  guided.modality_scale = 3;
  guided.audio_guidance_scale = 7;
  guided.audio_guidance_rescale = 0.6;
  guided.audio_modality_scale = 2.5;
  GenerationSpec perturbed = guided;
  perturbed.frame_rate = 25;
  perturbed.stg_scale = 1;
  perturbed.audio_stg_scale = 1.5;
  perturbed.stg_blocks = {1};
  GenerationSpec distilled = TinySpec();
  distilled.num_inference_steps = 0;
  distilled.timesteps = {1000, 909.375, 421.875};
  GenerationSpec ancestral = distilled;
  ancestral.preset = "22b-2.5-distilled";
  ancestral.timesteps = {993.75, 725, 421.875};
  GenerationSpec plain_call = perturbed;  // of 2.5: no token in front, so its other prompt has none
  plain_call.negative_prompt = "";
  return {{"2.0", "guided", guided},     {"2.3", "guided", perturbed},
          {"2.3", "plain", TinySpec()},  {"2.3", "distilled", distilled},
          {"2.5", "guided", plain_call}, {"2.5", "ancestral", ancestral}};
}

class FilmGolden : public ::testing::TestWithParam<FilmCase> {};

TEST_P(FilmGolden, EqualsTheFilmOfDiffusers) {
  const auto& [variant, name, spec] = GetParam();
  const TinyFolder folder(variant,
                          spec.timesteps.empty() ? Scheduler::kDynamic : Scheduler::kStatic);
  const auto pipeline = LoadTiny(folder);
  ASSERT_NE(pipeline, nullptr);
  const Film film = Make(*pipeline, spec);
  const Golden golden = Golden::In(std::string("ltx2/films/") + variant);
  const std::string of = std::string(name) + ".";
  EXPECT_LT(RelativeError(of + "video", film.video, golden[of + "video"]), 1e-5);
  EXPECT_LT(RelativeError(of + "audio", film.audio, golden[of + "audio"]), 1e-5);
  EXPECT_LT(RelativeError(of + "frames", film.frames.flatten().slice(0, 0, {}, kFrameStride),
                          golden[of + "frames"]),
            1e-5);
  EXPECT_LT(RelativeError(of + "wave", film.wave.flatten().slice(0, 0, {}, kWaveStride),
                          golden[of + "wave"]),
            5e-5);
}

INSTANTIATE_TEST_SUITE_P(Films, FilmGolden, ::testing::ValuesIn(AllFilms()), [](const auto& given) {
  const std::string variant = given.param.variant;
  return given.param.name + std::string("_of_2_") + variant.back();
});

}  // namespace
}  // namespace reel::model::ltx2
