// SPDX-License-Identifier: Apache-2.0
// A family that is not LTX uses what families share. Videos of several sizes step together, with
// two streams, two latents and a guidance for each; the shared body does the rest.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "tests/toy_family/toy_pipeline.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/frames/collecting_sink.h"
#include "tests/unit/model/graphs/rerun_recorder.h"

namespace reel::model::toy {
namespace {

GenerationSpec Spec(uint64_t seed, int side, int frames, double guidance) {
  GenerationSpec spec;
  spec.prompt = "a toy";
  spec.width = spec.height = side;
  spec.num_frames = frames;
  spec.num_inference_steps = 4;
  spec.guidance_scale = guidance;
  spec.seed = seed;
  return spec;
}

class ToyFamily : public ::testing::Test {
 protected:
  std::unique_ptr<Generation> Begin(ToyPipeline& pipeline, const GenerationSpec& spec) {
    auto created = pipeline.Create(spec, run_);
    EXPECT_TRUE(created.ok()) << created.status();
    EXPECT_TRUE(*pipeline.BeginNext(**created, run_));
    return *std::move(created);
  }
  void StepAll(ToyPipeline& pipeline, const std::vector<Generation*>& videos) {
    for (const absl::Status& status : pipeline.Step(videos, run_)) {
      ASSERT_TRUE(status.ok()) << status;
    }
  }
  Streams Alone(const GenerationSpec& spec) {
    ToyPipeline pipeline;
    const auto video = Begin(pipeline, spec);
    while (video->step() < video->num_steps()) StepAll(pipeline, {video.get()});
    return dynamic_cast<ToyGeneration&>(*video).streams;
  }
  void ExpectSame(const Generation& video, const Streams& alone) {
    const Streams& made = dynamic_cast<const ToyGeneration&>(video).streams;
    EXPECT_TRUE(at::allclose(made.video, alone.video, 1e-4, 1e-5));
    EXPECT_TRUE(at::allclose(made.audio, alone.audio, 1e-4, 1e-5));
  }

  const c10::InferenceMode no_gradients_;
  const TestRun test_;
  const kernels::Execution& run_ = test_.run;
};

TEST_F(ToyFamily, VideosOfSeveralSizesAndGuidancesStepTogetherAsAlone) {
  const std::vector<GenerationSpec> specs = {Spec(1, 32, 2, 3), Spec(2, 16, 5, 1),
                                             Spec(3, 24, 1, 6)};
  ToyPipeline pipeline;
  std::vector<std::unique_ptr<Generation>> videos;
  for (const GenerationSpec& spec : specs) videos.push_back(Begin(pipeline, spec));
  StepAll(pipeline, {videos[0].get()});  // the first is a step ahead
  for (int step = 0; step < 3; ++step) {
    StepAll(pipeline, {videos[0].get(), videos[1].get(), videos[2].get()});
  }
  StepAll(pipeline, {videos[1].get(), videos[2].get()});
  for (size_t i = 0; i < specs.size(); ++i) ExpectSame(*videos[i], Alone(specs[i]));
}

TEST_F(ToyFamily, EachStreamHasItsOwnGuidance) {
  const Streams weak = Alone(Spec(1, 16, 2, 2)), strong = Alone(Spec(1, 16, 2, 9));
  EXPECT_FALSE(at::allclose(weak.video, strong.video));
  // One step: afterwards the streams have heard of each other.
  GenerationSpec first = Spec(1, 16, 2, 2), other = Spec(1, 16, 2, 9);
  first.num_inference_steps = other.num_inference_steps = 1;
  EXPECT_TRUE(at::equal(Alone(first).audio, Alone(other).audio));
}

TEST_F(ToyFamily, ARequestsOwnTimestepsAreItsSchedule) {
  GenerationSpec spec = Spec(1, 16, 2, 3);
  spec.num_inference_steps = 0;
  spec.timesteps = {1000, 700, 300};
  ToyPipeline pipeline;
  const auto video = Begin(pipeline, spec);
  EXPECT_EQ(video->num_steps(), 3);
  EXPECT_FLOAT_EQ(dynamic_cast<ToyGeneration&>(*video).schedule.sigmas[1], 0.7f);
}

TEST_F(ToyFamily, RecordedStepsAreTheSame) {
  RecordCounts counts;
  ToyPipeline pipeline(std::make_unique<RerunRecorder>(run_.stream, counts));
  const GenerationSpec spec = Spec(4, 16, 3, 3);
  const auto video = Begin(pipeline, spec);
  while (video->step() < video->num_steps()) StepAll(pipeline, {video.get()});
  EXPECT_EQ(counts.recorded, 1);
  EXPECT_EQ(counts.replays, 3);
  ExpectSame(*video, Alone(spec));
}

TEST_F(ToyFamily, FramesComeInPieces) {
  ToyPipeline pipeline;
  const auto video = Begin(pipeline, Spec(5, 16, 3, 3));
  CollectingSink sink(FrameFormat::kRgb8);
  int pieces = 1;
  while (!*pipeline.DecodeNext(*video, sink, run_)) ++pieces;
  EXPECT_TRUE(absl::IsFailedPrecondition(pipeline.DecodeNext(*video, sink, run_).status()));
  EXPECT_EQ(pieces, 3);
  EXPECT_EQ(sink.num_frames, 3);
  EXPECT_EQ(sink.data.size(), 3u * 16 * 16 * 3);
}

TEST_F(ToyFamily, SoundComesBeforeTheFirstFrameForWhoTakesIt) {
  ToyPipeline pipeline;
  for (const bool takes_sound : {true, false}) {
    const auto video = Begin(pipeline, Spec(5, 16, 3, 3));
    CollectingSink sink(FrameFormat::kRgb8);
    sink.takes_sound = takes_sound;
    while (!*pipeline.DecodeNext(*video, sink, run_)) continue;
    const Streams& made = dynamic_cast<const ToyGeneration&>(*video).streams;
    const auto samples = static_cast<size_t>(made.audio.numel());
    EXPECT_EQ(sink.sound.size(), takes_sound ? samples : 0);
    EXPECT_EQ(sink.frames_before_sound, takes_sound ? 0 : -1);
    EXPECT_EQ(sink.num_frames, 3);
  }
}

TEST_F(ToyFamily, ABadNumberOfTheSoundEndsItsVideoAlone) {
  ToyPipeline pipeline;
  const GenerationSpec spec = Spec(7, 32, 1, 3);
  const auto bad = Begin(pipeline, Spec(6, 16, 1, 3)), good = Begin(pipeline, spec);
  dynamic_cast<ToyGeneration&>(*bad).streams.audio[0][0][0] = NAN;
  Generation* const both[] = {bad.get(), good.get()};
  const std::vector<absl::Status> statuses = pipeline.Step(both, run_);
  EXPECT_EQ(statuses[0].code(), absl::StatusCode::kDataLoss);
  ASSERT_TRUE(statuses[1].ok()) << statuses[1];
  while (good->step() < good->num_steps()) StepAll(pipeline, {good.get()});
  ExpectSame(*good, Alone(spec));
}

TEST_F(ToyFamily, AStepInPiecesIsTheWholeStep) {
  ToyPipeline pipeline;
  const GenerationSpec first = Spec(8, 16, 2, 3), second = Spec(9, 24, 1, 1);
  const auto a = Begin(pipeline, first), b = Begin(pipeline, second);
  while (a->step() < a->num_steps()) {
    const int before = a->step();
    // Dropped on its way it has changed nobody.
    EXPECT_FALSE(pipeline.BeginStep({{a.get(), b.get()}}, 2, run_)->Next(run_).has_value());
    const auto step = pipeline.BeginStep({{a.get(), b.get()}}, 2, run_);
    EXPECT_FALSE(step->Next(run_).has_value());
    EXPECT_EQ(a->step(), before);
    const auto statuses = step->Next(run_);
    ASSERT_TRUE(statuses.has_value());
    for (const absl::Status& status : *statuses) ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(a->step(), before + 1);
  }
  ExpectSame(*a, Alone(first));
  ExpectSame(*b, Alone(second));
}

TEST_F(ToyFamily, NothingIsDoneWithAVideoThatIsNotEncoded) {
  ToyPipeline pipeline;
  const auto video = *pipeline.Create(Spec(10, 16, 1, 3), run_);
  CollectingSink sink(FrameFormat::kRgb8);
  EXPECT_TRUE(absl::IsFailedPrecondition(pipeline.Step({{video.get()}}, run_)[0]));
  EXPECT_TRUE(absl::IsFailedPrecondition(pipeline.Preview(*video, 64, run_).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(pipeline.DecodeNext(*video, sink, run_).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(pipeline.Latents(*video).status()));
}

TEST_F(ToyFamily, APreviewIsTheMiddleFrameMadeSmall) {
  ToyPipeline pipeline;
  const auto video = Begin(pipeline, Spec(11, 32, 3, 3));
  const RgbImage whole = *pipeline.Preview(*video, 32, run_);
  const RgbImage small = *pipeline.Preview(*video, 8, run_);
  EXPECT_EQ(small.width, 8);
  EXPECT_EQ(small.height, 8);
  CollectingSink sink(FrameFormat::kRgb8);
  while (!*pipeline.DecodeNext(*video, sink, run_)) continue;
  const size_t frame = size_t{32} * 32 * 3;
  for (size_t i = 0; i < frame; ++i) {
    ASSERT_EQ(whole.pixels[i], static_cast<uint8_t>(sink.data[frame + i])) << i;
  }
}

TEST_F(ToyFamily, LatentsAreThoseOfThePictures) {
  ToyPipeline pipeline;
  const auto video = Begin(pipeline, Spec(12, 16, 3, 3));
  const LatentsView view = *pipeline.Latents(*video);
  EXPECT_EQ(view.channels, kVideoChannels);
  EXPECT_EQ(view.frames, 3);
  EXPECT_EQ(view.height, 2);
  EXPECT_EQ(view.width, 2);
  // [C, F, h, w]: the second channel of the first token.
  const Streams& streams = dynamic_cast<ToyGeneration&>(*video).streams;
  EXPECT_EQ(view.data[3 * 2 * 2], streams.video[0][0][1].item<float>());
}

TEST_F(ToyFamily, AVideoTellsWhatItsPassesLeftButNothingGoesOnFromIt) {
  ToyPipeline pipeline;
  const auto video = Begin(pipeline, Spec(13, 16, 3, 3));
  while (video->step() < video->num_steps()) StepAll(pipeline, {video.get()});
  const auto made = pipeline.State(*video);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->passes, 1);
  const LatentsView view = *pipeline.Latents(*video);
  const StateTensor& latents = made->tensors.at(PassState::kLatents);
  EXPECT_EQ(latents.shape, (std::vector<int64_t>{1, kVideoChannels, 3, 2, 2}));
  EXPECT_EQ(latents.bytes.size(), view.data.size() * sizeof(float));
  EXPECT_EQ(std::memcmp(latents.bytes.data(), view.data.data(), latents.bytes.size()), 0);
  EXPECT_EQ(made->tensors.size(), 1U) << "the toy tells no latents of its sound";
  // The family has no hook for it.
  EXPECT_TRUE(
      absl::IsFailedPrecondition(pipeline.CreateFrom(Spec(13, 16, 3, 3), *made, run_).status()));
}

TEST_F(ToyFamily, ParkingTakesBothLatentsAndTheText) {
  ToyPipeline pipeline;
  const auto video = Begin(pipeline, Spec(13, 16, 2, 3));
  auto& mine = dynamic_cast<ToyGeneration&>(*video);
  const int64_t values = 2 * 4 * kVideoChannels + 2 * kAudioPerFrame * kAudioChannels + 2 * kWidth;
  EXPECT_EQ(video->device_bytes(), values * 4);
  mine.MoveTo(at::kMeta);
  EXPECT_EQ(video->device_bytes(), 0);
}

TEST_F(ToyFamily, WhatIsKeptOfRecordedStepsCanBeGivenUp) {
  RecordCounts counts;
  ToyPipeline pipeline(std::make_unique<RerunRecorder>(run_.stream, counts));
  const auto video = Begin(pipeline, Spec(14, 16, 1, 3));
  for (int i = 0; i < 2; ++i) StepAll(pipeline, {video.get()});
  EXPECT_GT(pipeline.kept_bytes(), 0);
  pipeline.ForgetKept();
  EXPECT_EQ(pipeline.kept_bytes(), 0);
}

}  // namespace
}  // namespace reel::model::toy
