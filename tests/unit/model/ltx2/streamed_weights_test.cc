// SPDX-License-Identifier: Apache-2.0
// Weights that stay on the host and stream to the device, against a model that is all on it, bit
// for bit.
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "model/ltx2/ltx2_pipeline.h"
#include "tests/unit/model/ltx2/film.h"

namespace reel::model::ltx2 {
namespace {

constexpr int kManyBlocks = 7;

class StreamedFilms : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!DeviceUnderTest().ok()) {
      GTEST_SKIP() << "SKIPPED: this machine lacks the device: " << DeviceUnderTest().status();
    }
    folder_.Set("transformer", "num_layers", kManyBlocks);
    whole_ = LoadTiny(folder_, Options({}));
    ASSERT_NE(whole_, nullptr);
  }

  static LoadOptions Options(Offload offload) {
    LoadOptions options;
    options.random_weights = 7;
    options.offload = offload;
    return options;
  }
  static void ExpectSame(const Film& film, const Film& expected) {
    ASSERT_TRUE(film.video.defined() && expected.video.defined());
    EXPECT_TRUE(film.video.equal(expected.video));
    EXPECT_TRUE(film.audio.equal(expected.audio));
  }

  const TinyFolder folder_{GetParam()};
  std::unique_ptr<Pipeline> whole_;
};

TEST_P(StreamedFilms, AreTheSameHoweverManyBlocksStay) {
  GenerationSpec guided = TinySpec();
  guided.guidance_scale = 3;
  guided.modality_scale = 2;
  const Film film = Make(*whole_, TinySpec()), of_guided = Make(*whole_, guided);
  for (const int resident : {0, 1, 3, kManyBlocks - 1}) {
    const auto streaming = LoadTiny(folder_, Options({.resident_blocks = resident}));
    ASSERT_NE(streaming, nullptr);
    EXPECT_EQ(streaming->card().fit->streamed_blocks, kManyBlocks - resident);
    SCOPED_TRACE(resident);
    ExpectSame(Make(*streaming, TinySpec()), film);
    ExpectSame(Make(*streaming, guided), of_guided);
  }
}

TEST_P(StreamedFilms, AreTheSameWithTheTextEncoderOnTheHost) {
  const Film film = Make(*whole_, TinySpec());
  for (const int resident : {kManyBlocks, 2}) {
    const auto streaming =
        LoadTiny(folder_, Options({.text = Place::kHost, .resident_blocks = resident}));
    ASSERT_NE(streaming, nullptr);
    EXPECT_EQ(streaming->card().fit->text, Place::kHost);
    ExpectSame(Make(*streaming, TinySpec()), film);
  }
}

TEST_P(StreamedFilms, AreTheSameInPiecesWhateverComesBetween) {
  const auto streaming = LoadTiny(folder_, Options({.text = Place::kHost, .resident_blocks = 2}));
  ASSERT_NE(streaming, nullptr);
  const TestRun test;
  GenerationSpec other = TinySpec();
  other.seed = 5;
  const Film of_a = Make(*whole_, TinySpec()), of_b = Make(*whole_, other);
  const auto a = ltx::Begin(*streaming, TinySpec(), test.run);
  const auto b = ltx::Begin(*streaming, other, test.run);
  ASSERT_TRUE(a != nullptr && b != nullptr);
  while (a->step() < a->num_steps()) {
    const auto step = streaming->BeginStep({{a.get()}}, kManyBlocks, test.run);
    ASSERT_NE(step, nullptr);
    while (!step->Next(test.run).has_value()) {
      if (b->step() < b->num_steps()) ltx::StepAll(*streaming, {b.get()}, test.run);
    }
  }
  ExpectSame(TokensOf(*streaming, *a), of_a);
  ExpectSame(TokensOf(*streaming, *b), of_b);
}

TEST_P(StreamedFilms, AreInTheCardAsACheckForeseesThem) {
  LoadOptions options = Options({.text = Place::kHost, .resident_blocks = 3});
  options.path = folder_.path();
  options.dtype = "fp32";
  const auto checked = CheckLtx2Model(options, DeviceUnderTest()->stream);
  ASSERT_TRUE(checked.ok()) << checked.status();
  const auto streaming = LoadTiny(folder_, options);
  ASSERT_NE(streaming, nullptr);
  EXPECT_EQ(streaming->card().fit, checked->fit);
  EXPECT_LT(checked->weight_bytes, whole_->card().weight_bytes);
  EXPECT_GT(checked->fit->host_bytes(), 0);
  for (const std::string& profile : checked->lossy_profiles) EXPECT_EQ(profile, "") << "8 bits";
}

TEST_P(StreamedFilms, ThatFitNoDeviceOfThisSizeAreRefusedBeforeTheyAreRead) {
  LoadOptions options = Options({});
  options.path = folder_.path();
  options.device_memory = 650'000'000;
  const auto refused = LoadLtx2Pipeline(options, DeviceUnderTest()->stream).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_EQ(CheckLtx2Model(options, DeviceUnderTest()->stream).status(), refused);
}

INSTANTIATE_TEST_SUITE_P(Releases, StreamedFilms, ::testing::Values("2.0", "2.3", "2.5"));

}  // namespace
}  // namespace reel::model::ltx2
