// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/model/ltx2/film.h"

#include "model/ltx2/ltx2_pipeline.h"

namespace reel::model::ltx2 {
namespace {

at::Tensor TensorOf(absl::Span<const float> values, at::IntArrayRef sizes) {
  const at::Tensor tensor = at::empty(sizes, at::kFloat);
  EXPECT_EQ(static_cast<size_t>(tensor.numel()), values.size());
  std::copy(values.begin(), values.end(), tensor.data_ptr<float>());
  return tensor;
}

}  // namespace

GenerationSpec TinySpec() {
  GenerationSpec spec;
  spec.prompt = "  a red fox walks through a snowy forest. its steps crunch\n";
  spec.negative_prompt = "blurry, silent";
  spec.width = 96;
  spec.height = 64;
  spec.num_frames = 17;
  spec.frame_rate = 24;
  spec.num_inference_steps = kTinySteps;
  spec.seed = 77;
  spec.max_text_tokens = 64;
  spec.sound = true;
  return spec;
}

std::unique_ptr<Pipeline> LoadTiny(const TinyFolder& folder, LoadOptions options) {
  options.name = "tiny";
  options.path = folder.path();
  options.dtype = "fp32";
  auto pipeline = LoadLtx2Pipeline(options, DeviceUnderTest()->stream);
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  return pipeline.ok() ? *std::move(pipeline) : nullptr;
}

Film TokensOf(Pipeline& pipeline, const Generation& generation) {
  const LatentsView video = *pipeline.Latents(generation);
  const SoundLatentsView audio = *pipeline.SoundLatents(generation);
  return {.video =
              TensorOf(video.data, {video.channels, video.frames * video.height * video.width}).t(),
          .audio = TensorOf(audio.data, {audio.channels, audio.latents, audio.bins})
                       .transpose(0, 1)
                       .flatten(1),
          .frames = {},
          .wave = {}};
}

Film Made(Pipeline& pipeline, Generation& generation) {
  const TestRun test;
  while (generation.step() < generation.num_steps()) {
    ltx::StepAll(pipeline, {&generation}, test.run);
    if (::testing::Test::HasFatalFailure()) return {};
  }
  Film film = TokensOf(pipeline, generation);
  CollectingSink sink(FrameFormat::kRgbF32);
  sink.takes_sound = true;
  for (absl::StatusOr<bool> done = false; done.ok() && !*done;) {
    done = pipeline.DecodeNext(generation, sink, test.run);
    EXPECT_TRUE(done.ok()) << done.status();
  }
  EXPECT_EQ(sink.frames_before_sound, 0);
  const int64_t samples = static_cast<int64_t>(sink.sound.size()) / 2;
  film.frames = sink.Values().view({sink.num_frames, sink.height, sink.width, 3});
  film.wave = TensorOf(sink.sound, {samples, 2}).t();
  return film;
}

Film Make(Pipeline& pipeline, const GenerationSpec& spec) {
  const TestRun test;
  const auto generation = ltx::Begin(pipeline, spec, test.run);
  return generation == nullptr ? Film() : Made(pipeline, *generation);
}

void DistilledFilmTest::SetUp() {
  if (!DeviceUnderTest().ok()) {
    GTEST_SKIP() << "SKIPPED: this machine lacks the device: " << DeviceUnderTest().status();
  }
  folder_.AddUpsampler("x2");
  pipeline_ = LoadTiny(folder_);
  ASSERT_NE(pipeline_, nullptr);
}

void DistilledFilmTest::Step(Generation& generation) {
  ltx::StepAll(*pipeline_, {&generation}, test_.run);
}

}  // namespace reel::model::ltx2
