// SPDX-License-Identifier: Apache-2.0
// Frames of a refined clip that leave while its later windows are refined are those of the whole
// way, to the bit.
#include <algorithm>
#include <chrono>
#include <cmath>
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
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::ElementsAre;

constexpr int kUneven = 105, kFiveWindows = 161;  // frames

class Ltx2RefinedFrames : public Ltx2LongRefinedClip {
 protected:
  // Checks that each frame comes after its sound, as files need it.
  struct SoundFirst : CollectingSink {
    SoundFirst(const GenerationSpec& spec, const SoundFormat& format)
        : CollectingSink(FrameFormat::kRgbF32),
          frame_rate(spec.frame_rate),
          sample_rate(format.sample_rate) {
      takes_sound = spec.sound.value_or(true);
    }
    absl::Status Push(const FramesView& frames) override {
      const int64_t end = num_frames + frames.num_frames;
      const int64_t needs =
          std::llround(static_cast<double>(end) * sample_rate / frame_rate) + kSoundAhead;
      if (takes_sound && !sound_is_whole) {
        EXPECT_GE(static_cast<int64_t>(sound.size()) / 2, needs) << end << " frames";
      }
      return CollectingSink::Push(frames);
    }
    absl::Status PushSamples(const SamplesView& samples) override {
      const absl::Status status = CollectingSink::PushSamples(samples);
      samples_after.push_back(static_cast<int64_t>(sound.size()) / 2);
      return status;
    }
    const double frame_rate, sample_rate;
    std::vector<int64_t> samples_after;  // each part
  };
  // Everything that pieces of a decode have pushed.
  struct Shown {
    Shown(const GenerationSpec& spec, const Pipeline& pipeline)
        : sink(spec, pipeline.card().sound) {}
    at::Tensor frames() const {
      return sink.Values().view({sink.num_frames, sink.height, sink.width, 3});
    }
    SoundFirst sink;
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
  // The model makes the rest.
  GenerationSpec WithShortSoundOfTheRequest(int frames) const {
    GenerationSpec spec = WithSoundOfTheRequest(frames);
    spec.conditions[1].sound = ToneOf(pipeline_->card().own_sound, 1, 500);
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
    Shown shown(spec, *pipeline_);
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
    Shown shown(spec, *pipeline_);
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
  // `by_hand` is computed on a CPU, to which a GPU's sums are only near.
  static bool AreSame(const char* what, const at::Tensor& made, const at::Tensor& by_hand) {
    return OnCpus() ? made.equal(by_hand) : RelativeError(what, made, by_hand) < 1e-5;
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
    EXPECT_TRUE(AreSame("frames", OnTheWay(spec).frames(), DecodedAsAWhole(spec))) << length;
  }
}

TEST_P(Ltx2RefinedFrames, AreThoseOfTheWholeWayWhereTheModelMakesTheSound) {
  for (const GenerationSpec& spec : {Spec(kUneven), WithShortSoundOfTheRequest(kClipFrames)}) {
    const Shown shown = OnTheWay(spec), whole = BehindTheLastStep(spec);
    EXPECT_EQ(shown.sink.num_frames, spec.num_frames);
    EXPECT_TRUE(shown.frames().equal(whole.frames()));
    EXPECT_EQ(shown.sink.sound, whole.sink.sound);
  }
}

TEST_P(Ltx2RefinedFrames, BringTheSoundThatTheModelMakesInAPartForEachWindow) {
  const GenerationSpec spec = Spec(kFiveWindows);
  const Shown shown = OnTheWay(spec);
  EXPECT_EQ(shown.sink.samples_after.size(), 5);
  // The tiny model of 2.0 has 600 samples a second: files carry seven seconds ahead.
  if (pipeline_->card().sound.sample_rate > 8000) {
    EXPECT_GT(shown.after_step[5], 0) << "behind the second window";
    EXPECT_GT(shown.after_step[8], shown.after_step[5]);
  }
  // Sound decoded in one piece, which libraries may round differently.
  const auto model = LoadModel();
  const at::Tensor tokens = FilmOf(spec).audio.unsqueeze(0);
  std::vector<at::Tensor> parts;
  int64_t begin = 0, end = 0;
  for (const int64_t samples : shown.sink.samples_after) {
    while (model->sound.SamplesOf(end) < samples) ++end;
    parts.push_back(*model->sound.Samples(tokens, begin, end));
    begin = end;
  }
  const at::Tensor cut = at::cat(parts, 1), whole = *model->sound.Samples(tokens);
  at::Tensor heard = at::empty({whole.size(1), 2}, at::kFloat);
  ASSERT_EQ(static_cast<size_t>(heard.numel()), shown.sink.sound.size());
  std::ranges::copy(shown.sink.sound, heard.data_ptr<float>());
  heard = heard.t();
  EXPECT_TRUE(AreSame("sound in parts", heard, cut));
  const double error = RelativeError("sound", heard, whole);
  std::cout << "FIGURE sound in " << parts.size() << " parts against one: " << error << "\n";
  EXPECT_LT(error, 5e-6);
}

TEST_P(Ltx2RefinedFrames, WaitForAllSoundWhereALoudnessIsAskedFor) {
  GenerationSpec spec = Spec(kClipFrames);
  const Shown as_made = OnTheWay(spec);
  spec.normalise_loudness = -23;
  const Shown shown = OnTheWay(spec);
  EXPECT_THAT(shown.after_step, ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, kClipFrames));
  EXPECT_TRUE(shown.frames().equal(as_made.frames()));
  EXPECT_EQ(shown.sink.sound, as_made.sink.sound) << "the file's encoder changes the loudness";
}

TEST_P(Ltx2RefinedFrames, AreTheSameParkedOnTheHostAndTakenLate) {
  for (const GenerationSpec& spec :
       {Silent(kClipFrames), WithSound(Spec(kClipFrames)), Spec(kClipFrames)}) {
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
  Shown shown(spec, *pipeline_);
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
  const auto first_frame = [&](const GenerationSpec& spec, bool waits) {
    const auto began = Clock::now();
    Shown shown(spec, *pipeline_);
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
  const auto compare = [&](const GenerationSpec& spec, int first, int last) {
    const auto [now, steps] = first_frame(spec, false);
    const auto [before, all] = first_frame(spec, true);
    EXPECT_EQ(steps, first);
    EXPECT_EQ(all, last);
    std::cout << "FIGURE first frame of " << last / 3 << " windows, "
              << (spec.sound.value_or(true) ? "with sound: " : "silent: ") << now
              << " s, behind the last one " << before << " s\n";
  };
  compare(Silent(kClipFrames), 3, 9);
  if (pipeline_->card().sound.sample_rate > 8000) compare(Spec(kFiveWindows), 6, 15);
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
