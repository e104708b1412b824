// SPDX-License-Identifier: Apache-2.0
// reel-render with a tiny LTX-2 model, from a prompt to a film with sound, against what diffusers
// made of the same prompt (tests/golden/ltx2/films).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "model/weights/weight_set.h"
#include "tests/fakes/decoded_video.h"
#include "tests/fakes/tiny_ltx2.h"
#include "tests/unit/server/render/render_program.h"

namespace reel::render {
namespace {

using ::testing::HasSubstr;

constexpr size_t kFrameStride = 31, kWaveStride = 7;
constexpr int kFrames = 17, kSampleRate = 48'000;

std::vector<float> Floats(const model::WeightSet& set, const std::string& name) {
  const model::StoredTensor* stored = set.Find(name);
  if (stored == nullptr) {
    ADD_FAILURE() << "no tensor " << name;
    return {};
  }
  std::vector<float> values(stored->bytes().size() / sizeof(float));
  std::memcpy(values.data(), stored->bytes().data(), stored->bytes().size());
  return values;
}

// The root of the mean square of an error, over that of what is expected.
double RelativeError(const std::vector<float>& actual, size_t stride,
                     const std::vector<float>& expected) {
  EXPECT_EQ((actual.size() + stride - 1) / stride, expected.size());
  double errors = 0, squares = 0;
  for (size_t i = 0; i < expected.size() && i * stride < actual.size(); ++i) {
    const double error = actual[i * stride] - expected[i];
    errors += error * error;
    squares += double{expected[i]} * expected[i];
  }
  return std::sqrt(errors / squares);
}

class RenderLtx2 : public RenderProgram {
 protected:
  tests::ProgramResult Render(const std::string& output, std::vector<std::string> extra = {}) {
    std::vector<std::string> arguments = {
        "--model",
        model_.path(),
        "--dtype",
        "fp32",
        "--prompt",
        "a red fox walks through a snowy forest. its steps crunch",
        "--negative-prompt",
        "blurry, silent",
        "--width",
        "96",
        "--height",
        "64",
        "--num-frames",
        std::to_string(kFrames),
        "--frame-rate",
        "25",
        "--steps",
        "3",
        "--seed",
        "77",
        "--max-text-tokens",
        "64",
        "--output",
        folder_.File(output)};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    return RunWith(std::move(arguments));
  }

  const model::ltx2::TinyFolder model_{"2.3"};
};

TEST_F(RenderLtx2, MakesTheFilmOfDiffusers) {
  const auto done =
      Render("out.safetensors", {"--guidance-scale", "3", "--guidance-rescale", "0.7",
                                 "--stg-scale", "1", "--stg-blocks", "1", "--modality-scale", "3",
                                 "--audio-guidance-scale", "7", "--audio-guidance-rescale", "0.6",
                                 "--audio-stg-scale", "1.5", "--audio-modality-scale", "2.5"});
  ASSERT_EQ(done.status, 0) << done.errors;
  const auto golden = model::WeightSet::OpenFile(std::string(std::getenv("REEL_SOURCE")) +
                                                 "/tests/golden/ltx2/films/2.3/golden.safetensors");
  const auto ours = model::WeightSet::OpenFile(folder_.File("out.safetensors"));
  ASSERT_TRUE(golden.ok() && ours.ok()) << golden.status() << ours.status();
  EXPECT_LT(RelativeError(Floats(*ours, "frames"), kFrameStride, Floats(*golden, "guided.frames")),
            1e-5);
  EXPECT_LT(RelativeError(Floats(*ours, "wave"), kWaveStride, Floats(*golden, "guided.wave")),
            5e-5);
  EXPECT_EQ(ours->Metadata("sample_rate"), std::to_string(kSampleRate));
  EXPECT_EQ(ours->Find("latents")->entry->shape, (std::vector<int64_t>{1, 8, 3, 2, 3}));
  EXPECT_EQ(ours->Find("audio_latents")->entry->shape, (std::vector<int64_t>{1, 2, 17, 4}));
  EXPECT_EQ(ours->Find("wave")->entry->shape, (std::vector<int64_t>{2, 31'200}));
}

TEST_F(RenderLtx2, MakesAFilmWithPicturesAndSound) {
  const auto done = Render("out.mp4");
  ASSERT_EQ(done.status, 0) << done.errors;
  const auto film = reel::testing::Decode(folder_.Read("out.mp4"));
  ASSERT_TRUE(film.ok()) << film.status();
  EXPECT_EQ(film->luma.size(), static_cast<size_t>(kFrames));
  EXPECT_EQ(film->sample_rate, kSampleRate);
  EXPECT_EQ(film->channels, 2);
  // As long as the pictures, which the model's sound is 30 ms short of.
  EXPECT_GE(film->sound.size() / 2, static_cast<size_t>(kSampleRate) * kFrames / 25);
  double squares = 0;
  for (const float sample : film->sound) squares += double{sample} * sample;
  EXPECT_GT(std::sqrt(squares / static_cast<double>(film->sound.size())), 0.1);
}

TEST_F(RenderLtx2, MakesASilentFilmWhereItIsAskedTo) {
  const auto done = Render("out.mp4", {"--no-sound"});
  ASSERT_EQ(done.status, 0) << done.errors;
  const auto film = reel::testing::Decode(folder_.Read("out.mp4"));
  ASSERT_TRUE(film.ok()) << film.status();
  EXPECT_EQ(film->luma.size(), static_cast<size_t>(kFrames));
  EXPECT_EQ(film->sample_rate, 0);
}

TEST_F(RenderLtx2, ChecksAModelByItsGeneration) {
  const auto good = RunWith({"--check", "--model", model_.path()});
  EXPECT_EQ(good.status, 0) << good.errors;
  EXPECT_THAT(good.out, HasSubstr("can be loaded: LTX-2.3"));
  model_.Remove("vocoder");
  const auto bad = RunWith({"--check", "--model", model_.path()});
  EXPECT_EQ(bad.status, 7);
  EXPECT_THAT(bad.errors, HasSubstr("the model has no vocoder"));
}

TEST_F(RenderLtx2, ADraftWithSoundAndItsPromotionGiveTheFileOfTheWholeFilm) {
  const model::ltx2::TinyFolder model("2.3", model::ltx2::Scheduler::kStatic);
  model.AddUpsampler("x2");
  const auto run = [&](std::vector<std::string> arguments, const std::string& output) {
    arguments.insert(arguments.end(), {"--model", model.path(), "--dtype", "fp32", "--output",
                                       folder_.File(output)});
    const auto done = RunWith(std::move(arguments));
    ASSERT_EQ(done.status, 0) << done.errors;
  };
  const std::vector<std::string> film = {"--preset",          "22b-2.3-distilled-two-pass",
                                         "--prompt",          "a red fox",
                                         "--width",           "192",
                                         "--height",          "128",
                                         "--num-frames",      "17",
                                         "--max-text-tokens", "64"};
  std::vector<std::string> draft = film;
  draft.insert(draft.end(), {"--stop-after-pass", "1", "--keep-state", folder_.File("state")});
  run(draft, "draft.mp4");
  const auto decoded = reel::testing::Decode(folder_.Read("draft.mp4"));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->luma.at(0).size(), size_t{96} * 64);
  EXPECT_EQ(decoded->sample_rate, kSampleRate);
  for (const std::string kind : {".mp4", ".safetensors"}) {
    run({"--promote", folder_.File("state")}, "promoted" + kind);
    run(film, "whole" + kind);
    EXPECT_EQ(folder_.Read("promoted" + kind), folder_.Read("whole" + kind)) << kind;
  }
}

TEST_F(RenderLtx2, RefinesAClipOfAnotherModelAndCarriesItsSoundOver) {
  ASSERT_EQ(Render("clip.mp4").status, 0);
  const auto clip = reel::testing::Decode(folder_.Read("clip.mp4"));
  ASSERT_TRUE(clip.ok()) << clip.status();
  const model::ltx2::TinyFolder model("2.3", model::ltx2::Scheduler::kStatic);
  model.AddUpsampler("x2");
  const auto refine = [&](const std::string& output, std::vector<std::string> extra = {}) {
    std::vector<std::string> arguments = {"--model",           model.path(),
                                          "--dtype",           "fp32",
                                          "--refine",          folder_.File("clip.mp4"),
                                          "--prompt",          "a sharp fox",
                                          "--width",           "192",
                                          "--height",          "128",
                                          "--num-frames",      "17",
                                          "--frame-rate",      "25",
                                          "--max-text-tokens", "64",
                                          "--output",          folder_.File(output)};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    return RunWith(std::move(arguments));
  };
  auto done = refine("exact.safetensors");
  ASSERT_EQ(done.status, 0) << done.errors;
  const auto exact = model::WeightSet::OpenFile(folder_.File("exact.safetensors"));
  ASSERT_TRUE(exact.ok()) << exact.status();
  EXPECT_EQ(exact->Find("frames")->entry->shape, (std::vector<int64_t>{17, 128, 192, 3}));
  const std::vector<float> wave = Floats(*exact, "wave");
  const size_t samples = wave.size() / 2;
  ASSERT_GE(samples, size_t{kSampleRate} * 17 / 25);
  ASSERT_LE(samples, clip->sound.size() / 2);
  for (size_t i = 0; i < 2 * samples; ++i) {
    // Louder than a file may be.
    ASSERT_EQ(wave[i / 2 + i % 2 * samples], std::clamp(clip->sound[i], -1.0F, 1.0F)) << i;
  }
  done = refine("film.mp4");
  ASSERT_EQ(done.status, 0) << done.errors;
  const auto film = reel::testing::Decode(folder_.Read("film.mp4"));
  ASSERT_TRUE(film.ok()) << film.status();
  EXPECT_EQ(film->luma.size(), 17U);
  EXPECT_EQ(film->luma.at(0).size(), size_t{192} * 128);
  EXPECT_EQ(film->sample_rate, kSampleRate);
  EXPECT_EQ(refine("weak.mp4", {"--denoise-strength", "0.3"}).status, 0);
  EXPECT_NE(folder_.Read("weak.mp4"), folder_.Read("film.mp4"));
  done = refine("none.mp4", {"--denoise-strength", "1"});
  EXPECT_EQ(done.status, 3);
  EXPECT_THAT(done.errors, HasSubstr("denoise_strength"));
  done = refine("none.mp4", {"--condition", folder_.File("clip.mp4")});
  EXPECT_EQ(done.status, 3);
  EXPECT_THAT(done.errors, HasSubstr("conditions[0].video"));
}

TEST_F(RenderLtx2, FollowsTheReferenceClipThatAnAdapterWants) {
  ASSERT_EQ(Render("clip.mp4").status, 0);
  const std::string layer = "diffusion_model.transformer_blocks.0.attn1.to_q";
  const std::vector<float> some(2 * 48, 0.1F);
  const auto adapter = [&](const std::string& name, const nlohmann::json& metadata) {
    return folder_.Write(
        name, model::SafetensorsOfTypes(
                  {{layer + ".lora_A.weight", "F32", {2, 48}, model::BytesOfFloats(some)},
                   {layer + ".lora_B.weight", "F32", {48, 2}, model::BytesOfFloats(some)}},
                  metadata));
  };
  const std::string pose = adapter("pose.safetensors", {{"reference_downscale_factor", "1"}});
  const std::string half = adapter("half.safetensors", {{"reference_downscale_factor", "2"}});
  const std::string plain = adapter("plain.safetensors", nullptr);
  const std::string clip = folder_.File("clip.mp4");
  const auto with = [&](const std::string& output, const std::string& file,
                        std::vector<std::string> more) {
    more.insert(more.end(), {"--adapter-ranks", "32", "--adapter", file});
    return Render(output, more);
  };
  auto done = with("film.mp4", pose, {"--reference", clip});
  ASSERT_EQ(done.status, 0) << done.errors;
  EXPECT_EQ(with("again.mp4", pose, {"--reference", clip}).status, 0);
  EXPECT_EQ(folder_.Read("again.mp4"), folder_.Read("film.mp4"));
  EXPECT_EQ(with("weak.mp4", pose, {"--reference", clip + ":0.5"}).status, 0);
  EXPECT_NE(folder_.Read("weak.mp4"), folder_.Read("film.mp4"));
  done = RunWith({"--model",           model_.path(),
                  "--dtype",           "fp32",
                  "--prompt",          "a red fox",
                  "--width",           "128",
                  "--height",          "64",
                  "--num-frames",      std::to_string(kFrames),
                  "--frame-rate",      "25",
                  "--steps",           "2",
                  "--max-text-tokens", "64",
                  "--reference",       clip,
                  "--adapter-ranks",   "32",
                  "--adapter",         half,
                  "--output",          folder_.File("wide.safetensors")});
  ASSERT_EQ(done.status, 0) << done.errors;
  const auto wide = model::WeightSet::OpenFile(folder_.File("wide.safetensors"));
  ASSERT_TRUE(wide.ok()) << wide.status();
  EXPECT_EQ(wide->Find("latents")->entry->shape, (std::vector<int64_t>{1, 8, 3, 2, 4}));

  done = with("none.mp4", half, {"--reference", clip});
  EXPECT_EQ(done.status, 3);
  EXPECT_THAT(done.errors, HasSubstr("width: 96 is not a multiple of 64"));
  done = with("none.mp4", pose, {});
  EXPECT_EQ(done.status, 3);
  EXPECT_THAT(done.errors,
              HasSubstr("adapters[0].name: 'pose.safetensors' wants a reference clip"));
  done = with("none.mp4", plain, {"--reference", clip});
  EXPECT_EQ(done.status, 3);
  EXPECT_THAT(done.errors, HasSubstr("conditions[0].use: is a reference, but no adapter"));
  done = Render("none.mp4", {"--adapter", pose, "--reference", clip});
  EXPECT_NE(done.status, 0);
  EXPECT_THAT(done.errors, HasSubstr("adapter_ranks"));
}

}  // namespace
}  // namespace reel::render
