// SPDX-License-Identifier: Apache-2.0
#include "model/testcard/test_card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "absl/time/clock.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/resolve.h"
#include "model/testcard/hum.h"
#include "model/testcard/picture_code.h"

namespace reel::model {
namespace {

using ::testing::Each;
using ::testing::SizeIs;

// Keeps what is pushed, frame by frame.
class KeepingSink : public FrameSink {
 public:
  explicit KeepingSink(FrameFormat format) : format_(format) {}
  FrameFormat format() const override { return format_; }
  bool HasRoom() const override { return true; }
  absl::Status Push(const FramesView& view) override {
    const auto size = static_cast<size_t>(FrameBytes(view.format, view.width, view.height));
    EXPECT_EQ(view.data.size(), size * static_cast<size_t>(view.num_frames));
    for (size_t at = 0; at < view.data.size(); at += size) {
      const auto* begin = reinterpret_cast<const uint8_t*>(view.data.data()) + at;
      frames.emplace_back(begin, begin + size);
    }
    return absl::OkStatus();
  }
  bool TakesSound() const override { return takes_sound; }
  absl::Status PushSamples(const SamplesView& samples) override {
    EXPECT_TRUE(frames.empty()) << "sound comes first";
    EXPECT_EQ(samples.format, kHumFormat);
    sound.insert(sound.end(), samples.interleaved.begin(), samples.interleaved.end());
    return absl::OkStatus();
  }
  std::vector<std::vector<uint8_t>> frames;
  std::vector<float> sound;
  bool takes_sound = false;

 private:
  FrameFormat format_;
};

class TestCardTest : public ::testing::Test {
 protected:
  std::unique_ptr<Pipeline> Load(std::vector<TestCardFault> faults = {}) {
    TestCardOptions options;
    options.step_time = absl::ZeroDuration();
    options.step_time_per_extra_job = absl::ZeroDuration();
    options.decode_time_per_frame = absl::ZeroDuration();
    options.faults = std::move(faults);
    return *MakeTestCard("testcard", options);
  }
  std::unique_ptr<Generation> Create(Pipeline& pipeline, const std::string& prompt, int size = 64) {
    GenerationSpec spec;
    spec.prompt = prompt;
    spec.width = spec.height = size;
    spec.num_frames = 9;
    spec.num_inference_steps = 3;
    const Resolution resolved = Resolve(spec, pipeline.card(), RequestLimits(), 7);
    EXPECT_TRUE(resolved.ok());
    return *pipeline.Create(resolved.spec, run_);
  }
  std::vector<absl::StatusCode> Step(Pipeline& pipeline, std::vector<Generation*> generations) {
    std::vector<absl::StatusCode> codes;
    for (const auto& status : pipeline.Step(generations, run_)) codes.push_back(status.code());
    return codes;
  }

  kernels::KernelPlan plan_;
  kernels::KernelCounters counters_;
  kernels::Execution run_{plan_, counters_, nullptr, {}};
};

TEST_F(TestCardTest, ItsDefaultsAndPresetsAreLegal) {
  const ModelCard card = TestCardModelCard("testcard");
  GenerationSpec spec;
  spec.prompt = "a fox";
  EXPECT_TRUE(Resolve(spec, card, RequestLimits(), 1).ok());
  for (const Preset& preset : card.presets) {
    spec.preset = preset.name;
    EXPECT_TRUE(Resolve(spec, card, RequestLimits(), 1).ok()) << preset.name;
  }
}

TEST_F(TestCardTest, HumsBeforeItsFirstFrameForWhoTakesSound) {
  TestCardOptions options;
  options.step_time = options.decode_time_per_frame = absl::ZeroDuration();
  options.sound = true;
  auto pipeline = *MakeTestCard("testcard", options);
  EXPECT_EQ(pipeline->card().sound, kHumFormat);
  for (const bool takes_sound : {true, false}) {
    auto generation = Create(*pipeline, "a fox");
    KeepingSink sink(FrameFormat::kI420);
    sink.takes_sound = takes_sound;
    while (!*pipeline->DecodeNext(*generation, sink, run_)) {
    }
    EXPECT_THAT(sink.frames, SizeIs(9));
    // Nine frames at 24 a second.
    EXPECT_THAT(sink.sound, SizeIs(takes_sound ? 2 * 18'000 : 0));
  }
}

TEST_F(TestCardTest, ShowsPicturesInTheFramesThatTheyPin) {
  TestCardOptions options;
  options.step_time = options.decode_time_per_frame = absl::ZeroDuration();
  EXPECT_FALSE((*MakeTestCard("testcard", options))->card().supports_conditions);
  options.pictures = true;
  auto pipeline = *MakeTestCard("testcard", options);
  EXPECT_TRUE(pipeline->card().supports_conditions);
  GenerationSpec spec;
  spec.prompt = "a fox";
  spec.num_frames = 9;
  Resolution resolved = Resolve(spec, pipeline->card(), RequestLimits(), 1);
  ASSERT_TRUE(resolved.ok());
  const auto decoded = [&] {
    auto generation = *pipeline->Create(resolved.spec, run_);
    KeepingSink sink(FrameFormat::kI420);
    while (!*pipeline->DecodeNext(*generation, sink, run_)) {
    }
    return sink.frames;
  };
  const auto plain = decoded();
  const int width = resolved.spec.width, height = resolved.spec.height;
  const std::vector<uint8_t> white(static_cast<size_t>(width * height * 3), 255);
  const auto pixels = std::make_shared<ConditionPixels>(ConditionPixels{width, height, 1, white});
  Condition& pinned = resolved.spec.conditions.emplace_back();
  pinned.frame_index = 8;
  pinned.pixels = pixels;
  const auto shown = decoded();
  for (size_t frame = 0; frame < 8; ++frame) EXPECT_EQ(shown[frame], plain[frame]) << frame;
  EXPECT_EQ(shown[8][0], 235) << "white, in limited range";
  // The code stays.
  EXPECT_EQ(DecodeCode(shown[8], width, width, height), DecodeCode(plain[8], width, width, height));
}

TEST(Hum, BeepsAtWholeSeconds) {
  const std::vector<float> hum = Hum(2);
  const auto loudest = [&](double from, double to) {
    float most = 0;
    for (auto i = static_cast<size_t>(from * 48'000); i < static_cast<size_t>(to * 48'000); ++i) {
      EXPECT_EQ(hum[2 * i], hum[2 * i + 1]);
      most = std::max(most, std::abs(hum[2 * i]));
    }
    return most;
  };
  EXPECT_NEAR(loudest(0, 0.05), 0.5, 1e-3);
  EXPECT_NEAR(loudest(0.05, 1), 0.25, 1e-3);
  EXPECT_NEAR(loudest(1, 1.05), 0.5, 1e-3);
  EXPECT_NEAR(loudest(1.05, 2), 0.25, 1e-3);
}

TEST_F(TestCardTest, StepsToTheEndAndDecodesEveryFrameInOrder) {
  auto pipeline = Load();
  auto generation = Create(*pipeline, "a fox");
  EXPECT_EQ(*pipeline->BeginNext(*generation, run_), true);
  while (generation->step() < generation->num_steps()) Step(*pipeline, {generation.get()});
  KeepingSink sink(FrameFormat::kI420);
  int pieces = 0;
  for (bool done = false; !done; ++pieces) done = *pipeline->DecodeNext(*generation, sink, run_);
  EXPECT_GT(pieces, 1);
  ASSERT_THAT(sink.frames, SizeIs(9));
  for (int i = 0; i < 9; ++i) {
    const auto code = DecodeCode(sink.frames[static_cast<size_t>(i)], 64, 64, 64);
    EXPECT_EQ(code, (PictureCode{PictureHash("a fox", 7, 64, 64), i}));
  }
}

TEST_F(TestCardTest, GuidanceDoublesTheRows) {
  auto pipeline = Load();
  auto generation = Create(*pipeline, "a fox");
  EXPECT_EQ(generation->rows(), 2 * 2 * 2 * 2);
}

TEST_F(TestCardTest, StepsTakeAsLongAsToldForTheBatchAsAWhole) {
  TestCardOptions options;
  options.step_time = absl::Milliseconds(20);
  options.step_time_per_extra_job = absl::Milliseconds(10);
  auto pipeline = *MakeTestCard("testcard", options);
  auto a = Create(*pipeline, "a"), b = Create(*pipeline, "b"), c = Create(*pipeline, "c");
  const absl::Time start = absl::Now();
  Step(*pipeline, {a.get(), b.get(), c.get()});
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(40));
}

TEST_F(TestCardTest, BadNumbersBlameTheirOwnJob) {
  auto pipeline = Load({{"nan", 1, "bad", 0}});
  auto good = Create(*pipeline, "good"), bad = Create(*pipeline, "bad");
  EXPECT_THAT(Step(*pipeline, {good.get(), bad.get()}), Each(absl::StatusCode::kOk));
  EXPECT_EQ(Step(*pipeline, {good.get(), bad.get()}),
            (std::vector{absl::StatusCode::kOk, absl::StatusCode::kDataLoss}));
  EXPECT_EQ(good->step(), 2);
  EXPECT_EQ(bad->step(), 1);
}

TEST_F(TestCardTest, OutOfMemoryAndALostDeviceHitTheWholeBatch) {
  auto pipeline = Load({{"oom", 0, "big", 1}, {"sticky", 1, "big", 0}});
  auto small = Create(*pipeline, "small"), big = Create(*pipeline, "big");
  EXPECT_THAT(Step(*pipeline, {small.get(), big.get()}),
              Each(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(small->step(), 0);
  EXPECT_THAT(Step(*pipeline, {small.get(), big.get()}), Each(absl::StatusCode::kOk));
  EXPECT_THAT(Step(*pipeline, {small.get(), big.get()}), Each(absl::StatusCode::kAborted));
}

TEST_F(TestCardTest, ParkingIsRememberedAndResumingIsExact) {
  auto pipeline = Load();
  auto generation = Create(*pipeline, "a fox");
  Step(*pipeline, {generation.get()});
  EXPECT_TRUE(generation->Park(true).ok());
  EXPECT_EQ(generation->device_bytes(), 0);
  EXPECT_THAT(Step(*pipeline, {generation.get()}), Each(absl::StatusCode::kFailedPrecondition));
  EXPECT_TRUE(generation->Resume().ok());
  EXPECT_EQ(generation->step(), 1);
  EXPECT_THAT(Step(*pipeline, {generation.get()}), Each(absl::StatusCode::kOk));
}

TEST_F(TestCardTest, PreviewsFitTheAskedSideWithinTwice) {
  auto pipeline = Load();
  auto generation = Create(*pipeline, "a fox", 512);
  for (const int side : {32, 100, 256, 512, 2000}) {
    const auto image = pipeline->Preview(*generation, side, run_);
    ASSERT_TRUE(image.ok());
    EXPECT_LT(image->width, 2 * side);
    EXPECT_EQ(image->pixels.size(), static_cast<size_t>(image->width * image->height * 3));
  }
}

TEST_F(TestCardTest, HasNoLatents) {
  auto pipeline = Load();
  EXPECT_EQ(pipeline->Latents(*Create(*pipeline, "a")).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace reel::model
