// SPDX-License-Identifier: Apache-2.0
// Frames of a refined clip that leave while its later windows are refined are those of the whole
// way, to the bit.
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/frames/frame_output.h"
#include "model/ltx2/refined_clip.h"
#include "model/refinement.h"
#include "tests/unit/model/ltx/pipeline_run.h"
#include "tests/unit/model/ltx2/refined_clip_fixture.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::ElementsAre;

constexpr int kUneven = 105, kFiveWindows = 161;  // frames

class Ltx2RefinedFrames : public Ltx2LongRefinedClip {
 protected:
  // Everything that pieces of a decode have pushed.
  struct Shown {
    explicit Shown(bool with_sound) { sink.takes_sound = with_sound; }
    at::Tensor frames() const {
      return sink.Values().view({sink.num_frames, sink.height, sink.width, 3});
    }
    CollectingSink sink{FrameFormat::kRgbF32};
    std::vector<int> after_step;  // frames that have left by then
    bool is_over = false;
  };

  GenerationSpec Silent(int frames) const {
    GenerationSpec spec = Spec(frames);
    spec.sound = false;
    return spec;
  }
  GenerationSpec WithSoundOfTheRequest(int frames) const {
    GenerationSpec spec = Spec(frames);
    Condition sound;
    sound.kind = Condition::Kind::kAudio;
    sound.sound = ToneOf(pipeline_->card().own_sound, spec.num_frames / spec.frame_rate + 1, 500);
    spec.conditions.push_back(sound);
    return spec;
  }
  // At most `most` pieces while there are any.
  void Decode(Generation& generation, Shown& shown, int most = 1000) {
    for (int i = 0; i < most && generation.has_frames() && !shown.is_over; ++i) {
      const auto last = pipeline_->DecodeNext(generation, shown.sink, test_.run);
      ASSERT_TRUE(last.ok()) << last.status();
      shown.is_over = *last;
    }
  }
  // `between` runs behind each step, before the frames that can leave then.
  template <typename Between>
  Shown OnTheWay(const GenerationSpec& spec, Between between, int most = 1000) {
    Shown shown(spec.sound.value_or(true));
    const auto generation = ltx::Begin(*pipeline_, spec, test_.run);
    EXPECT_NE(generation, nullptr);
    if (generation == nullptr) return shown;
    EXPECT_FALSE(generation->has_frames());
    while (generation->step() < generation->num_steps()) {
      ltx::StepAll(*pipeline_, {generation.get()}, test_.run);
      between(*generation);
      const bool is_last = generation->step() == generation->num_steps();
      Decode(*generation, shown, is_last ? 1000 : most);
      shown.after_step.push_back(shown.sink.num_frames);
    }
    EXPECT_TRUE(shown.is_over);
    EXPECT_EQ(shown.sink.frames_before_sound, spec.sound.value_or(true) ? 0 : -1);
    return shown;
  }
  Shown OnTheWay(const GenerationSpec& spec) {
    return OnTheWay(spec, [](Generation&) {});
  }
  Shown BehindTheLastStep(const GenerationSpec& spec) {
    Shown shown(spec.sound.value_or(true));
    const auto generation = ltx::Begin(*pipeline_, spec, test_.run);
    while (generation->step() < generation->num_steps()) {
      ltx::StepAll(*pipeline_, {generation.get()}, test_.run);
    }
    Decode(*generation, shown);
    return shown;
  }
  // The film's latents decoded as a clip of its own that is whole.
  at::Tensor DecodedAsAWhole(const GenerationSpec& spec) {
    const auto model = LoadModel();
    const Film film = FilmOf(spec);
    const LatentShape shape = {film.video.size(0) / kOfALatent, kFilmHeight / 32, kFilmWidth / 32};
    const at::Tensor latents =
        model->statistics.Denormalize(UnpackLatents(film.video.unsqueeze(0), shape));
    at::Generator unused = at::detail::createCPUGenerator(0);
    const Ops ops(test_.run);
    const FrameSourcePtr source = model->decoder.Decode(ops, latents, {{}, 0, unused});
    CollectingSink sink(FrameFormat::kRgbF32);
    for (bool last = false; !last;) {
      const Frames frames = source->Next(ops);
      EXPECT_TRUE(PushFrames(ops, frames.x, sink).ok());
      last = frames.last;
    }
    return sink.Values().view({sink.num_frames, sink.height, sink.width, 3});
  }
};

TEST_P(Ltx2RefinedFrames, LeaveBehindEachWindowAndAreThoseOfTheWholeWay) {
  for (const GenerationSpec& spec :
       {Silent(kUneven), WithSound(Spec(kClipFrames)), WithSoundOfTheRequest(kClipFrames)}) {
    SCOPED_TRACE(spec.num_frames);
    const Shown shown = OnTheWay(spec), whole = BehindTheLastStep(spec);
    EXPECT_EQ(shown.sink.num_frames, spec.num_frames);
    EXPECT_TRUE(shown.frames().equal(whole.frames()));
    EXPECT_EQ(shown.sink.sound, whole.sink.sound);
    // The steps of a window are three.
    const size_t all = shown.after_step.size();
    for (size_t end = 3; end <= all; end += 3) {
      EXPECT_GT(shown.after_step[end - 1], end == 3 ? 0 : shown.after_step[end - 4]) << end;
      if (end < all) {
        EXPECT_EQ(shown.after_step[end], shown.after_step[end - 1]) << end;
      }
    }
  }
}

TEST_P(Ltx2RefinedFrames, AreThoseOfAClipThatIsDecodedAsAWhole) {
  for (const int length : {kClipFrames, kFiveWindows}) {
    const GenerationSpec spec = Silent(length);
    EXPECT_TRUE(OnTheWay(spec).frames().equal(DecodedAsAWhole(spec))) << length;
  }
}

TEST_P(Ltx2RefinedFrames, WaitForTheSoundThatTheModelMakes) {
  const GenerationSpec spec = Spec(kClipFrames);
  const Shown shown = OnTheWay(spec);
  EXPECT_THAT(shown.after_step, ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, kClipFrames));
  EXPECT_TRUE(shown.frames().equal(FilmOf(spec).frames));
  // Of a clip whose sound ends before it the model makes the rest.
  GenerationSpec ends_early = WithSoundOfTheRequest(kClipFrames);
  ends_early.conditions[1].sound = ToneOf(pipeline_->card().own_sound, 1, 500);
  EXPECT_EQ(OnTheWay(ends_early).after_step[7], 0);
}

TEST_P(Ltx2RefinedFrames, AreTheSameParkedOnTheHostAndTakenLate) {
  for (const GenerationSpec& spec : {Silent(kClipFrames), WithSound(Spec(kClipFrames))}) {
    const Shown whole = BehindTheLastStep(spec);
    const auto park = [&](Generation& generation) {
      ASSERT_TRUE(generation.Park(true).ok() && generation.Resume().ok());
      ASSERT_TRUE(pipeline_->Preview(generation, 48, test_.run).ok());
    };
    // All frames that are there, or a piece between two steps.
    for (const int most : {1000, 1}) {
      const Shown parked = OnTheWay(spec, park, most);
      EXPECT_TRUE(parked.frames().equal(whole.frames())) << most;
      EXPECT_EQ(parked.sink.sound, whole.sink.sound);
    }
    EXPECT_TRUE(OnTheWay(spec, [](Generation&) {}, 3).frames().equal(whole.frames()));
  }
}

TEST_P(Ltx2RefinedFrames, ChangeNeitherLatentsNorTheState) {
  const GenerationSpec spec = Silent(kClipFrames);
  const Film film = FilmOf(spec);
  Shown shown(false);
  const auto generation = ltx::Begin(*pipeline_, spec, test_.run);
  while (generation->step() < generation->num_steps()) {
    ltx::StepAll(*pipeline_, {generation.get()}, test_.run);
    if (generation->step() < generation->num_steps()) Decode(*generation, shown);
  }
  EXPECT_TRUE(TokensOf(*pipeline_, *generation).video.equal(film.video));
  EXPECT_TRUE(TokensOf(*pipeline_, *generation).audio.equal(film.audio));
}

TEST_P(Ltx2RefinedFrames, ComeSoonerThanBehindTheLastWindow) {
  using Clock = std::chrono::steady_clock;
  const GenerationSpec spec = Silent(kClipFrames);
  const auto first_frame = [&](bool waits) {
    const auto began = Clock::now();
    Shown shown(false);
    const auto generation = ltx::Begin(*pipeline_, spec, test_.run);
    while (shown.sink.num_frames == 0) {
      const bool decodes = generation->step() == generation->num_steps() || !waits;
      if (decodes && generation->has_frames()) {
        Decode(*generation, shown, 1);
      } else {
        ltx::StepAll(*pipeline_, {generation.get()}, test_.run);
      }
    }
    const std::chrono::duration<double> took = Clock::now() - began;
    return std::pair(took.count(), generation->step());
  };
  const auto [now, steps] = first_frame(false);
  const auto [before, all] = first_frame(true);
  EXPECT_EQ(steps, 3);
  EXPECT_EQ(all, 9);
  std::cout << "FIGURE first frame of three windows: " << now << " s, behind the last one "
            << before << " s\n";
}

INSTANTIATE_TEST_SUITE_P(
    Films, Ltx2RefinedFrames,
    ::testing::Values(RefinedCase{"of_2_0", "2.0", "19b-2.0-distilled-two-pass"},
                      RefinedCase{"of_2_3", "2.3", "22b-2.3-distilled-two-pass"},
                      RefinedCase{"of_2_5", "2.5", "22b-2.5-distilled-two-pass"}),
    [](const auto& given) { return std::string(given.param.name); });

// The diffusion decoder has noise of its own for such a clip, whose generator goes on.
class Ltx2RefinedFramesByDiffusion : public Ltx2RefinedFrames {
 protected:
  void SetUp() override {
    Ltx2LongRefinedClip::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    folder_->AddDiffusionDecoder();
    folder_->Set("diffusion_decoder", "decoder_stage5_kernel", {3, 3, 3});  // is computed sooner
    LoadOptions options;
    options.decoder = kDiffusionDecoder;
    pipeline_ = LoadTiny(*folder_, options);
    ASSERT_NE(pipeline_, nullptr);
  }
};

TEST_P(Ltx2RefinedFramesByDiffusion, LeaveBehindEachWindowAndAreThoseOfTheWholeWay) {
  const GenerationSpec spec = Silent(kUneven);
  const Shown shown = OnTheWay(spec), whole = BehindTheLastStep(spec);
  EXPECT_EQ(shown.sink.num_frames, spec.num_frames);
  EXPECT_GT(shown.after_step[2], 0);
  EXPECT_TRUE(shown.frames().equal(whole.frames()));
}

INSTANTIATE_TEST_SUITE_P(Films, Ltx2RefinedFramesByDiffusion,
                         ::testing::Values(RefinedCase{"of_2_5", "2.5",
                                                       "22b-2.5-distilled-two-pass"}),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace reel::model::ltx2
