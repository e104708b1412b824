// SPDX-License-Identifier: Apache-2.0
// Requests of LTX-2 as the engine drives them.
#include "model/ltx2/ltx2_pipeline.h"

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx2/ltx2_generation.h"
#include "model/pass_work.h"
#include "tests/unit/model/ltx/pipeline_run.h"
#include "tests/unit/model/ltx2/film.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::HasSubstr;

GenerationSpec Guided() {
  GenerationSpec spec = TinySpec();
  spec.guidance_scale = 3;
  spec.stg_scale = 1;
  spec.stg_blocks = {1};
  spec.modality_scale = 2;
  return spec;
}

class Ltx2PipelineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!DeviceUnderTest().ok()) {
      GTEST_SKIP() << "SKIPPED: this machine lacks the device: " << DeviceUnderTest().status();
    }
    pipeline_ = LoadTiny(folder_);
    ASSERT_NE(pipeline_, nullptr);
  }
  std::unique_ptr<Generation> Begin(const GenerationSpec& spec) {
    return ltx::Begin(*pipeline_, spec, test_.run);
  }
  void Step(Generation& generation) { ltx::StepAll(*pipeline_, {&generation}, test_.run); }

  const TinyFolder folder_{"2.3"};
  const TestRun test_;
  std::unique_ptr<Pipeline> pipeline_;
};

void ExpectEqualBits(const Film& a, const Film& b) {
  EXPECT_TRUE(at::equal(a.video, b.video));
  EXPECT_TRUE(at::equal(a.audio, b.audio));
  EXPECT_TRUE(at::equal(a.frames, b.frames));
  EXPECT_TRUE(at::equal(a.wave, b.wave));
}

TEST_F(Ltx2PipelineTest, MakesTheSameFilmTwiceAndAnotherOfAnotherSeed) {
  const Film film = Make(*pipeline_, Guided());
  EXPECT_EQ(film.frames.sizes(), (at::IntArrayRef{17, 64, 96, 3}));
  EXPECT_EQ(film.wave.size(0), 2);
  ExpectEqualBits(Make(*pipeline_, Guided()), film);
  GenerationSpec other = Guided();
  other.seed = 78;
  EXPECT_FALSE(at::equal(Make(*pipeline_, other).audio, film.audio));
}

TEST_F(Ltx2PipelineTest, TellsTheRowsThatItsCardGives) {
  for (const GenerationSpec& spec : {TinySpec(), Guided()}) {
    const auto generation = Begin(spec);
    ASSERT_NE(generation, nullptr);
    const PassWork work = PassesOf(spec, pipeline_->card())[0];
    EXPECT_EQ(generation->rows(), work.rows);
    EXPECT_EQ(generation->num_steps(), work.steps);
  }
}

TEST_F(Ltx2PipelineTest, ResumesWithEqualBits) {
  const Film film = Make(*pipeline_, Guided());
  const auto generation = Begin(Guided());
  ASSERT_NE(generation, nullptr);
  Step(*generation);
  const int64_t bytes = generation->device_bytes();
  EXPECT_GT(bytes, 0);
  ASSERT_TRUE(generation->Park(true).ok());
  const auto other = Begin(TinySpec());  // something else runs in the meantime
  Step(*other);
  ASSERT_TRUE(generation->Resume().ok());
  EXPECT_EQ(generation->device_bytes(), bytes);
  ExpectEqualBits(Made(*pipeline_, *generation), film);
}

// So that a film can be cancelled, or make way, before a long step ends.
TEST_F(Ltx2PipelineTest, StepsInPiecesWithEqualBits) {
  const Film film = Make(*pipeline_, Guided());
  const auto generation = Begin(Guided()), dropped = Begin(TinySpec());
  ASSERT_TRUE(generation != nullptr && dropped != nullptr);
  Generation* const mine[] = {generation.get()};
  Generation* const others[] = {dropped.get()};
  const auto step = pipeline_->BeginStep(mine, 48, test_.run);
  const auto left = pipeline_->BeginStep(others, 48, test_.run);
  ASSERT_TRUE(step != nullptr && left != nullptr);
  EXPECT_FALSE(left->Next(test_.run).has_value());  // and never goes on
  int pieces = 1;
  auto results = step->Next(test_.run);
  for (; !results.has_value(); ++pieces) results = step->Next(test_.run);
  EXPECT_TRUE(results->at(0).ok()) << results->at(0);
  EXPECT_EQ(pieces, 3 * 2 - 1);  // calls of two blocks; the perturbed one begins at its second
  EXPECT_EQ(generation->step(), 1);
  EXPECT_EQ(dropped->step(), 0);
  ExpectEqualBits(Made(*pipeline_, *generation), film);
}

TEST_F(Ltx2PipelineTest, MovesAllThatItHolds) {
  const auto generation = Begin(Guided());
  ASSERT_NE(generation, nullptr);
  auto& mine = static_cast<Ltx2Generation&>(*generation);
  mine.MoveTo(at::kMeta);
  for (const at::Tensor& tensor : mine.tensors()) {
    EXPECT_TRUE(!tensor.defined() || tensor.is_meta());
  }
  EXPECT_TRUE(mine.state.prompt.video.tokens.is_meta());
  EXPECT_EQ(generation->device_bytes(), 0);
}

TEST_F(Ltx2PipelineTest, ChangesNothingByLookingAtIt) {
  const Film film = Make(*pipeline_, Guided());
  const auto generation = Begin(Guided());
  ASSERT_NE(generation, nullptr);
  Step(*generation);
  const auto picture = pipeline_->Preview(*generation, 48, test_.run);
  ASSERT_TRUE(picture.ok()) << picture.status();
  EXPECT_EQ(picture->width, 48);
  EXPECT_EQ(picture->height, 32);
  ExpectEqualBits(Made(*pipeline_, *generation), film);
}

TEST_F(Ltx2PipelineTest, ReadsATextAPieceAndSaysWhatItCut) {
  GenerationSpec spec = Guided();
  spec.max_text_tokens = 16;
  const auto generation = pipeline_->Create(spec, test_.run);
  ASSERT_TRUE(generation.ok()) << generation.status();
  std::vector<bool> ready;
  for (int piece = 0; piece < 3; ++piece) {
    ready.push_back(*pipeline_->BeginNext(**generation, test_.run));
  }
  EXPECT_THAT(ready, ::testing::ElementsAre(false, false, true));
  const TextFacts facts = (*generation)->text_facts();
  EXPECT_GT(facts.prompt_tokens, 16);
  EXPECT_GT(facts.negative_prompt_tokens, 0);
  ASSERT_EQ(facts.notices.size(), 1u);
  EXPECT_EQ(facts.notices[0].code, "PROMPT_CUT");
}

TEST_F(Ltx2PipelineTest, SaysThatGuidanceHasNoEffect) {
  const TinyFolder folder("2.0");
  const auto old = LoadTiny(folder);
  ASSERT_NE(old, nullptr);
  GenerationSpec spec = TinySpec();
  EXPECT_TRUE((*old->Create(spec, test_.run))->text_facts().notices.empty());
  spec.audio_stg_scale = 1;
  const auto generation = old->Create(spec, test_.run);
  ASSERT_TRUE(generation.ok()) << generation.status();
  const TextFacts facts = (*generation)->text_facts();
  ASSERT_EQ(facts.notices.size(), 1u);
  EXPECT_EQ(facts.notices[0].code, "STG_IGNORED");
  EXPECT_TRUE((*pipeline_->Create(spec, test_.run))->text_facts().notices.empty());
}

TEST_F(Ltx2PipelineTest, SaysThatSpeechSuffersFarFrom24FramesASecond) {
  const auto codes = [&](double frame_rate, bool sound) {
    GenerationSpec spec = TinySpec();
    spec.frame_rate = frame_rate;
    spec.sound = sound;
    const auto generation = pipeline_->Create(spec, test_.run);
    EXPECT_TRUE(generation.ok()) << generation.status();
    std::vector<std::string> all;
    for (const Notice& notice : (*generation)->text_facts().notices) all.push_back(notice.code);
    return all;
  };
  for (const double near : {20.0, 24.0, 25.0, 30.0}) {
    EXPECT_THAT(codes(near, true), ::testing::IsEmpty()) << near;
  }
  for (const double far : {12.0, 50.0, 60.0}) {
    EXPECT_THAT(codes(far, true), ::testing::ElementsAre("FRAME_RATE_HURTS_SPEECH")) << far;
    EXPECT_THAT(codes(far, false), ::testing::IsEmpty()) << far;
  }
}

TEST_F(Ltx2PipelineTest, MakesNoSoundForASinkWithoutIt) {
  const auto generation = Begin(TinySpec());
  ASSERT_NE(generation, nullptr);
  for (int step = 0; step < kTinySteps; ++step) Step(*generation);
  const CollectingSink sink = ltx::DecodeAll(*pipeline_, *generation, test_.run);
  EXPECT_EQ(sink.num_frames, 17);
  EXPECT_TRUE(sink.sound.empty());
}

TEST_F(Ltx2PipelineTest, DecodesInPiecesBetweenWhichAJobCanEnd) {
  const auto generation = Begin(TinySpec());
  ASSERT_NE(generation, nullptr);
  for (int step = 0; step < kTinySteps; ++step) Step(*generation);
  CollectingSink sink;
  sink.takes_sound = true;
  const auto done = pipeline_->DecodeNext(*generation, sink, test_.run);
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_FALSE(*done);
  EXPECT_FALSE(sink.sound.empty());  // all of it, and nothing else
  EXPECT_EQ(sink.num_frames, 0);
}

TEST_F(Ltx2PipelineTest, FindsNanInEitherStream) {
  for (const bool in_sound : {false, true}) {
    const auto generation = Begin(TinySpec());
    ASSERT_NE(generation, nullptr);
    StreamTokens& latents = static_cast<Ltx2Generation&>(*generation).state.latents;
    at::Tensor& x = in_sound ? latents.audio : latents.video;
    x = at::full_like(x, std::numeric_limits<float>::quiet_NaN());
    // A device may tell of a step during the next one.
    Generation* const batch[] = {generation.get()};
    absl::Status found = absl::OkStatus();
    for (int step = 0; found.ok() && step < kTinySteps; ++step) {
      found = pipeline_->Step(batch, test_.run)[0];
    }
    EXPECT_EQ(found.code(), absl::StatusCode::kDataLoss) << found;
  }
}

TEST_F(Ltx2PipelineTest, RefusesWhatCannotBeMade) {
  const auto refusal = [&](const GenerationSpec& spec) {
    const auto generation = pipeline_->Create(spec, test_.run);
    EXPECT_FALSE(generation.ok());
    return std::string(generation.status().message());
  };
  GenerationSpec spec = TinySpec();
  spec.num_frames = 16;
  EXPECT_THAT(refusal(spec), HasSubstr("96x64, 16 frames"));
  spec = TinySpec();
  spec.num_frames = 1;
  spec.frame_rate = 60;
  EXPECT_THAT(refusal(spec), HasSubstr("too short for sound"));
  spec = TinySpec();
  spec.max_text_tokens = 33;
  EXPECT_THAT(refusal(spec), HasSubstr("max_text_tokens is 33"));
  spec = TinySpec();
  spec.num_inference_steps = 0;
  spec.timesteps = {1000, 500};
  EXPECT_THAT(refusal(spec), HasSubstr("timesteps"));
}

}  // namespace
}  // namespace reel::model::ltx2
