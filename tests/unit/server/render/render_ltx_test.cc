// SPDX-License-Identifier: Apache-2.0
// reel-render with a tiny LTX-Video model, from files to a file, against what diffusers made of the
// same pixels (tests/golden/models).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "model/weights/weight_set.h"
#include "tests/fakes/decoded_video.h"
#include "tests/fakes/tiny_checkpoint.h"
#include "tests/fakes/tiny_ltx.h"
#include "tests/unit/server/render/render_program.h"
#include "tests/unit/server/worker/media/ffmpeg.h"

namespace reel::render {
namespace {

using ::testing::HasSubstr;

constexpr int kHeight = 64, kWidth = 96, kSteps = 3, kChannels = 8, kFrameStride = 7;
constexpr double kLatentBound = 2e-4;  // of their standard deviation
constexpr double kFrameBound = 2e-3;   // of 0..1

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

double StandardDeviation(const std::vector<float>& values) {
  double sum = 0, squares = 0;
  for (const double value : values) sum += value, squares += value * value;
  const auto count = static_cast<double>(values.size());
  return std::sqrt(squares / count - sum / count * (sum / count));
}

class RenderLtx : public RenderProgram {
 protected:
  // The goldens' clip: every byte of frame i is its position times i + 1, modulo 251.
  void WriteFrames(int frames, const std::string& name, bool inverted = false) {
    std::ofstream out(folder_.File("raw"), std::ios::binary);
    for (int f = 0; f < frames; ++f) {
      for (int i = 0; i < kHeight * kWidth; ++i) {
        for (int c = 0; c < 3; ++c) {
          const int value = (c * kHeight * kWidth + i) * (f + 1) % 251;
          out.put(static_cast<char>(inverted ? 255 - value : value));
        }
      }
    }
    out.close();
    const bool clip = frames > 1;
    const std::string made = worker::MakeWithFfmpeg(
        "-f rawvideo -pix_fmt rgb24 -s 96x64 -r 25 -i " + folder_.File("raw") +
            (clip ? " -c:v libx264rgb -qp 0" : " -frames:v 1"),
        clip ? ".mp4" : ".png");
    std::ofstream(folder_.File(name), std::ios::binary) << made;
  }

  tests::ProgramResult Render(const std::string& model, int frames, std::vector<std::string> extra,
                              const std::string& output) {
    std::vector<std::string> arguments = {
        "--model",
        model,
        "--prompt",
        "a red fox walks through a snowy forest. cinematic, 35mm film",
        "--negative-prompt",
        "worst quality, blurry",
        "--width",
        std::to_string(kWidth),
        "--height",
        std::to_string(kHeight),
        "--num-frames",
        std::to_string(frames),
        "--frame-rate",
        "25",
        "--steps",
        std::to_string(kSteps),
        "--guidance-scale",
        "3",
        "--guidance-rescale",
        "0.7",
        "--seed",
        "0",
        "--dtype",
        "fp32",
        "--decode-timestep",
        "0.05",
        "--decode-noise-scale",
        "0.025",
        "--max-text-tokens",
        "24",
        "--output",
        folder_.File(output)};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    return RunWith(std::move(arguments));
  }

  static void ExpectDone(const tests::ProgramResult& result) {
    ASSERT_EQ(result.status, 0) << result.errors;
  }

  void ExpectGolden(const std::string& version, const std::string& kind) {
    const auto golden =
        model::WeightSet::OpenFile(std::string(std::getenv("REEL_SOURCE")) +
                                   "/tests/golden/models/" + version + "/golden.safetensors");
    const auto ours = model::WeightSet::OpenFile(folder_.File("out.safetensors"));
    ASSERT_TRUE(golden.ok() && ours.ok()) << golden.status() << ours.status();
    ExpectLatents(Floats(*golden, kind + ".latents"), Floats(*ours, "latents"));
    const std::vector<float> expected = Floats(*golden, kind + ".frames");
    const std::vector<float> frames = Floats(*ours, "frames");
    double worst = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      worst = std::max<double>(worst, std::abs(frames[i * kFrameStride] - expected[i]));
    }
    std::printf("%s %-10s frames' worst difference %.2e\n", version.c_str(), kind.c_str(), worst);
    EXPECT_LT(worst, kFrameBound);
  }

 private:
  // The goldens' last step is tokens [S, C] with those of the video at the end; ours [C, tokens].
  static void ExpectLatents(const std::vector<float>& steps, const std::vector<float>& ours) {
    const size_t tokens = ours.size() / kChannels;
    const size_t begin = steps.size() - tokens * kChannels;
    double worst = 0;
    for (size_t t = 0; t < tokens; ++t) {
      for (size_t c = 0; c < kChannels; ++c) {
        const float expected = steps[begin + t * kChannels + c];
        worst = std::max<double>(worst, std::abs(ours[c * tokens + t] - expected));
      }
    }
    const double relative = worst / StandardDeviation(ours);
    std::printf("latents' worst difference %.2e of their standard deviation\n", relative);
    EXPECT_LT(relative, kLatentBound);
  }
};

TEST_F(RenderLtx, TextIsTheTextPipeline) {
  for (const char* version : {"0.9.0", "0.9.1", "0.9.5"}) {
    const model::ltx::TinyFolder model(version);
    ExpectDone(Render(model.path(), 17, {}, "out.safetensors"));
    ExpectGolden(version, "text");
  }
}

TEST_F(RenderLtx, AnImageIsTheImagePipeline) {
  if (!worker::HaveFfmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  WriteFrames(1, "start.png");
  for (const char* version : {"0.9.0", "0.9.1", "0.9.5"}) {
    const model::ltx::TinyFolder model(version);
    ExpectDone(Render(model.path(), 17, {"--image", folder_.File("start.png")}, "out.safetensors"));
    ExpectGolden(version, "image");
  }
}

TEST_F(RenderLtx, ConditionsAreTheConditionPipeline) {
  if (!worker::HaveFfmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  WriteFrames(1, "start.png");
  WriteFrames(1, "middle.png", true);
  WriteFrames(9, "end.mp4");
  for (const char* version : {"0.9.0", "0.9.1", "0.9.5"}) {
    const model::ltx::TinyFolder model(version);
    model.TakeSchedulerOf("0.9.5");
    ExpectDone(Render(model.path(), 33,
                      {"--condition", folder_.File("start.png") + "@0:1", "--condition",
                       folder_.File("middle.png") + "@16:0.8", "--condition",
                       folder_.File("end.mp4") + "@24:0.9"},
                      "out.safetensors"));
    ExpectGolden(version, "condition");
  }
}

TEST_F(RenderLtx, ASingleFileIsAModelToo) {
  const model::ltx::TinyFolder folder("0.9.1");
  std::ofstream(folder_.File("model.safetensors"), std::ios::binary)
      << model::ltx::CheckpointOf(folder.path(), "0.9.1");
  const std::string file = folder_.File("model.safetensors");
  ExpectDone(Render(file, 17, {"--text-folder", folder.path()}, "out.safetensors"));
  ExpectGolden("0.9.1", "text");
  const auto without = Render(file, 17, {}, "a.mp4");
  EXPECT_EQ(without.status, 7);
  EXPECT_THAT(without.errors, HasSubstr("has no text encoder"));
}

TEST_F(RenderLtx, AnAdapterIsAddedToTheWeights) {
  const model::ltx::TinyFolder folder("0.9.0");
  const std::string adapter =
      std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/adapters/ltx/style.safetensors";
  const auto latents = [&](std::vector<std::string> flags) {
    ExpectDone(Render(folder.path(), 17, std::move(flags), "out.safetensors"));
    return Floats(*model::WeightSet::OpenFile(folder_.File("out.safetensors")), "latents");
  };
  const std::vector<float> with = latents({"--adapter", adapter});
  EXPECT_EQ(latents({"--adapter", adapter + ":1"}), with);
  EXPECT_NE(latents({"--adapter", adapter + ":-1"}), with);
  EXPECT_EQ(latents({"--adapter", adapter + ":0"}), latents({}));

  const auto check =
      RunWith({"--check", "--json", "--model", folder.path(), "--adapter", adapter + ":0.5"});
  EXPECT_EQ(check.status, 0) << check.errors;
  EXPECT_THAT(check.out, HasSubstr(R"("adapters":[{"name":"style.safetensors","scale":0.5,)"));
  const auto twice =
      Render(folder.path(), 17, {"--adapter", adapter, "--adapter", adapter}, "a.mp4");
  EXPECT_EQ(twice.status, 7);
  EXPECT_THAT(twice.errors, HasSubstr("given twice"));
  EXPECT_FALSE(folder_.Has("a.mp4"));
  const auto none = RunWith({"--check", "--model", "testcard", "--adapter", adapter});
  EXPECT_EQ(none.status, 7);
  EXPECT_THAT(none.errors, HasSubstr("test card"));
}

TEST_F(RenderLtx, AVideoTakesPicturesToo) {
  if (!worker::HaveFfmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  WriteFrames(1, "start.png");
  const model::ltx::TinyFolder model("0.9.5");
  const auto done =
      Render(model.path(), 17, {"--image", folder_.File("start.png"), "--timings"}, "out.mp4");
  ExpectDone(done);
  EXPECT_THAT(done.errors, HasSubstr("peak memory"));
  const auto video = reel::testing::Decode(folder_.Read("out.mp4"));
  ASSERT_TRUE(video.ok()) << video.status();
  EXPECT_EQ(video->luma.size(), 17u);
}

TEST_F(RenderLtx, BadConditionsAreInvalidAndLeaveNoFile) {
  std::ofstream(folder_.File("bad.png")) << "no picture";
  const model::ltx::TinyFolder model("0.9.5");
  for (const char* output : {"out.mp4", "out.safetensors"}) {
    const auto bad = Render(model.path(), 17, {"--image", folder_.File("bad.png")}, output);
    EXPECT_EQ(bad.status, 3);
    EXPECT_THAT(bad.errors, HasSubstr("conditions[0] is not a PNG, JPEG or WebP"));
    const auto none = Render(model.path(), 17, {"--image", folder_.File("none.png")}, output);
    EXPECT_EQ(none.status, 3);
    EXPECT_THAT(none.errors, HasSubstr("none.png"));
    EXPECT_FALSE(folder_.Has(output));
    EXPECT_FALSE(folder_.Has(std::string(output) + ".part"));
  }
}

// From a picture file, which the state brings along.
TEST_F(RenderLtx, ADraftAndItsPromotionGiveTheFileOfTheWholeVideo) {
  const model::ltx::TinyFolder model("0.9.5");
  model.AddUpsampler("spatial");
  WriteFrames(1, "a.png");
  const std::vector<std::string> film = {
      "--model",      model.path(),  "--dtype",
      "fp32",         "--preset",    "2b-0.9.8-distilled-two-pass",
      "--prompt",     "a red fox",   "--width",
      "96",           "--height",    "96",
      "--num-frames", "9",           "--max-text-tokens",
      "24",           "--condition", folder_.File("a.png") + "@8:0.9"};
  const auto run = [&](std::vector<std::string> extra, const std::string& output, bool promotes) {
    std::vector<std::string> arguments = film;
    if (promotes) arguments.resize(4);
    extra.insert(extra.end(), {"--output", folder_.File(output)});
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    ExpectDone(RunWith(std::move(arguments)));
  };
  run({"--stop-after-pass", "1", "--keep-state", folder_.File("state")}, "draft.mp4", false);
  const auto draft = reel::testing::Decode(folder_.Read("draft.mp4"));
  ASSERT_TRUE(draft.ok()) << draft.status();
  EXPECT_EQ(draft->luma.at(0).size(), size_t{64} * 64);
  std::filesystem::remove(folder_.File("a.png"));
  for (const std::string kind : {".mp4", ".safetensors"}) {
    run({"--promote", folder_.File("state")}, "promoted" + kind, true);
  }
  WriteFrames(1, "a.png");
  for (const std::string kind : {".mp4", ".safetensors"}) {
    run({}, "whole" + kind, false);
    EXPECT_EQ(folder_.Read("promoted" + kind), folder_.Read("whole" + kind)) << kind;
  }
}

}  // namespace
}  // namespace reel::render
