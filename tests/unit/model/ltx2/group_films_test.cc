// SPDX-License-Identifier: Apache-2.0
// Films on a group of devices against the same on one, as the engine makes them: pictures, sound,
// and all that a request may bring.
#include <cstdlib>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx2/ltx2_pipeline.h"
#include "model/resolve.h"
#include "tests/unit/model/ltx2/film.h"
#include "tests/unit/model/ltx2/group_devices.h"
#include "tests/unit/model/ltx2/refined_clip_fixture.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::HasSubstr;

// As of group_steps_test.cc, and what the autoencoders and the vocoder make of it.
double TokenBound() { return OnCpus() ? 5e-6 : ltx::kLatentBound; }
double FrameBound() { return OnCpus() ? 1e-5 : ltx::kFrameBound; }
double WaveBound() { return OnCpus() ? 5e-5 : 1e-2; }

struct FilmCase {
  const char* variant;
  int ranks;
};
void PrintTo(const FilmCase& one, std::ostream* out) { *out << one.variant << " on " << one.ranks; }

GenerationSpec Guided() {
  GenerationSpec spec = TinySpec();
  spec.guidance_scale = 3;
  spec.stg_scale = 1;
  spec.stg_blocks = {1};
  spec.modality_scale = 2;
  return spec;
}

class Ltx2GroupFilms : public ::testing::TestWithParam<FilmCase> {
 protected:
  void SetUp() override {
    if (!DeviceUnderTest().ok()) GTEST_SKIP() << "SKIPPED: " << DeviceUnderTest().status();
    if (!PeersOf(GetParam().ranks)) {
      GTEST_SKIP() << "SKIPPED: REEL_TEST_DEVICE is no group of " << GetParam().ranks;
    }
  }

  static LoadOptions OnGroup(LoadOptions options = {}) {
    options.peers = *PeersOf(GetParam().ranks);
    return options;
  }
  void Load(const LoadOptions& options = {}) {
    one_ = LoadTiny(folder_, options);
    group_ = LoadTiny(folder_, OnGroup(options));
    ASSERT_TRUE(one_ != nullptr && group_ != nullptr);
  }

  static void ExpectNear(const Film& made, const Film& expected, const std::string& what) {
    ASSERT_TRUE(made.wave.defined() && expected.wave.defined());
    EXPECT_LT(RelativeError(what + ", video", made.video, expected.video), TokenBound());
    EXPECT_LT(RelativeError(what + ", audio", made.audio, expected.audio), TokenBound());
    EXPECT_LT(RelativeError(what + ", frames", made.frames, expected.frames), FrameBound());
    EXPECT_LT(RelativeError(what + ", wave", made.wave, expected.wave), WaveBound());
  }
  void ExpectTheSameFilm(const GenerationSpec& spec, const std::string& what) {
    ExpectNear(Make(*group_, spec), Make(*one_, spec), what);
  }

  const TinyFolder folder_{GetParam().variant};
  const TestRun test_;
  std::unique_ptr<Pipeline> one_, group_;
};

TEST_P(Ltx2GroupFilms, AreThoseOfOneDevice) {
  Load();
  EXPECT_EQ(group_->card().weight_bytes, one_->card().weight_bytes);
  ExpectTheSameFilm(TinySpec(), "plain");
  ExpectTheSameFilm(Guided(), "guided");
}

TEST_P(Ltx2GroupFilms, BeginFromPicturesAndSoundAsOnOneDevice) {
  Load();
  GenerationSpec spec = Guided();
  spec.conditions = {ltx::Pinned(ltx::Pictures(1), 0, 1),
                     ltx::Pinned(ltx::Pictures(1, true), 9, 0.7)};
  Condition sound;
  sound.kind = Condition::Kind::kAudio;
  sound.sound = ToneOf({.sample_rate = 16'000, .channels = 2}, 0.4, 220);
  spec.conditions.push_back(sound);
  ExpectTheSameFilm(spec, "pictures and a sound");
}

// Parked between steps, looked at, and stopped between blocks while another film steps.
TEST_P(Ltx2GroupFilms, GoOnTheSameAfterAllThatMayComeBetween) {
  Load();
  const Film film = Make(*group_, Guided());
  const auto generation = ltx::Begin(*group_, Guided(), test_.run);
  const auto other = ltx::Begin(*group_, TinySpec(), test_.run);
  ASSERT_TRUE(generation != nullptr && other != nullptr);
  Generation* const mine[] = {generation.get()};
  Generation* const others[] = {other.get()};
  const auto step = group_->BeginStep(mine, 48, test_.run);
  ASSERT_NE(step, nullptr);
  EXPECT_FALSE(step->Next(test_.run).has_value());
  const auto left = group_->BeginStep(others, 48, test_.run);
  EXPECT_FALSE(left->Next(test_.run).has_value());  // and never goes on
  auto results = step->Next(test_.run);
  while (!results.has_value()) results = step->Next(test_.run);
  EXPECT_TRUE(results->at(0).ok()) << results->at(0);
  EXPECT_EQ(other->step(), 0);
  ASSERT_TRUE(generation->Park(true).ok());
  ltx::StepAll(*group_, {other.get()}, test_.run);
  ASSERT_TRUE(generation->Resume().ok());
  EXPECT_TRUE(group_->Preview(*generation, 48, test_.run).ok());
  group_->ForgetKept();
  const Film made = Made(*group_, *generation);
  EXPECT_TRUE(made.video.equal(film.video));
  EXPECT_TRUE(made.audio.equal(film.audio));
  EXPECT_TRUE(made.frames.equal(film.frames));
  EXPECT_TRUE(made.wave.equal(film.wave));
}

TEST_P(Ltx2GroupFilms, OfAnyHeightAreThoseOfOneDevice) {
  Load();
  for (const int height : {64, 96, 160}) {
    GenerationSpec spec = TinySpec();
    spec.height = height;
    ExpectTheSameFilm(spec, "height " + std::to_string(height));
  }
}

// What a request's profile wants in 8 bits is made on every rank; weights in 8 bits alone are too.
TEST_P(Ltx2GroupFilms, InEightBitsAreThoseOfOneDevice) {
  if (!DeviceUnderTest()->catalog.Plan("fp8", {}).ok()) GTEST_SKIP() << "SKIPPED: no e4m3 here";
  folder_.Set("transformer", "num_layers", 4);
  for (const WeightsForm form : {WeightsForm::k16, WeightsForm::kE4m3}) {
    LoadOptions options;
    options.random_weights = 7;
    options.weights_form = form;
    Load(options);
    const auto expected = ltx::Denoised(*one_, TinySpec(), "fp8");
    const auto made = ltx::Denoised(*group_, TinySpec(), "fp8");
    ASSERT_TRUE(expected != nullptr && made != nullptr);
    const Film film = TokensOf(*one_, *expected), on_group = TokensOf(*group_, *made);
    // A last bit of a norm may decide a code.
    EXPECT_LT(RelativeError("fp8, video", on_group.video, film.video), 1e-2);
    EXPECT_LT(RelativeError("fp8, audio", on_group.audio, film.audio), 1e-2);
  }
}

TEST_P(Ltx2GroupFilms, HaveAdaptersThatAreAddedAtTheLoad) {
  if (GetParam().variant != std::string("2.3")) GTEST_SKIP() << "SKIPPED: the adapter is for 2.3";
  LoadOptions options;
  const std::string file =
      std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/adapters/ltx2/style.safetensors";
  Load();
  const Film plain = Make(*one_, TinySpec());
  options.adapters = {{"style", file, 1}};
  Load(options);
  const Film adapted = Make(*group_, TinySpec());
  ExpectNear(adapted, Make(*one_, TinySpec()), "adapted");
  EXPECT_GT(RelativeError("plain", plain.video, adapted.video), 1e-3);
}

TEST_P(Ltx2GroupFilms, RefuseWhatGroupsCannotDo) {
  const auto refusal = [&](LoadOptions options) {
    options = OnGroup(std::move(options));
    options.path = folder_.path();
    options.dtype = "fp32";
    const auto pipeline = LoadLtx2Pipeline(options, DeviceUnderTest()->stream);
    EXPECT_FALSE(pipeline.ok());
    EXPECT_EQ(CheckLtx2Model(options, DeviceUnderTest()->stream).status(), pipeline.status());
    return std::string(pipeline.status().message());
  };
  LoadOptions options;
  options.adapter_ranks = 32;
  EXPECT_THAT(refusal(options), HasSubstr("a group of devices takes no adapters of requests"));
  options = {};
  options.offload.resident_blocks = 1;
  EXPECT_THAT(refusal(options), HasSubstr("block"));
}

// Of enough tokens that GPUs divide them too, by libtorch's operators and by the kernels.
TEST_P(Ltx2GroupFilms, OfAWholeSizeAreThoseOfOneDevice) {
  if (OnCpus() && GetParam().ranks > 2) GTEST_SKIP() << "SKIPPED: long on CPUs";
  Load();
  GenerationSpec spec = Guided();
  spec.width = 768;
  spec.height = 512;
  spec.num_frames = 49;
  spec.num_inference_steps = OnCpus() ? 2 : 6;
  for (const PlanSource source : {PlanSource::kLibtorch, PlanSource::kKernels}) {
    const TestRun test(source);
    const auto expected = ltx::Begin(*one_, spec, test.run);
    const auto made = ltx::Begin(*group_, spec, test.run);
    ASSERT_TRUE(expected != nullptr && made != nullptr);
    while (made->step() < made->num_steps()) {
      ltx::StepAll(*one_, {expected.get()}, test.run);
      ltx::StepAll(*group_, {made.get()}, test.run);
      ASSERT_FALSE(HasFatalFailure());
      const Film film = TokensOf(*one_, *expected), on_group = TokensOf(*group_, *made);
      EXPECT_LT(RelativeError("whole size, video", on_group.video, film.video), TokenBound());
      EXPECT_LT(RelativeError("whole size, audio", on_group.audio, film.audio), TokenBound());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, Ltx2GroupFilms,
                         ::testing::Values(FilmCase{"2.0", 2}, FilmCase{"2.3", 2},
                                           FilmCase{"2.3", 3}, FilmCase{"2.3", 4},
                                           FilmCase{"2.5", 2}));

// In two passes, and of clips that are refined: the upsampler is the first rank's.
class Ltx2GroupTwoPasses : public Ltx2GroupFilms {
 protected:
  void SetUp() override {
    Ltx2GroupFilms::SetUp();
    if (IsSkipped()) return;
    distilled_.AddUpsampler("x2");
    one_ = LoadTiny(distilled_);
    group_ = LoadTiny(distilled_, OnGroup());
    ASSERT_TRUE(one_ != nullptr && group_ != nullptr);
  }
  GenerationSpec Spec() const {
    GenerationSpec spec = TinySpec();
    spec.model = "tiny";
    spec.preset = "22b-2.3-distilled-two-pass";
    spec.width = 192;
    spec.height = 128;
    spec.num_inference_steps = 0;
    spec.negative_prompt.reset();
    return spec;
  }

  const TinyFolder distilled_{GetParam().variant, Scheduler::kStatic};
};

TEST_P(Ltx2GroupTwoPasses, AreThoseOfOneDevice) {
  GenerationSpec spec = Spec();
  spec.timesteps = {1000, 909.375, 421.875};
  ExpectTheSameFilm(spec, "two passes");
}

TEST_P(Ltx2GroupTwoPasses, RefineAClipAsOneDevice) {
  GenerationSpec spec = Spec();
  Condition clip;
  clip.kind = Condition::Kind::kVideo;
  clip.use = Condition::Use::kRefine;
  clip.size_bytes = 1;
  clip.pixels = Drifting(spec.num_frames);
  spec.conditions = {clip};
  const Resolution resolved = Resolve(spec, one_->card(), {}, 1);
  ASSERT_TRUE(resolved.violations.empty());
  ExpectTheSameFilm(resolved.spec, "refined");
}

INSTANTIATE_TEST_SUITE_P(Groups, Ltx2GroupTwoPasses, ::testing::Values(FilmCase{"2.3", 2}));

}  // namespace
}  // namespace reel::model::ltx2
