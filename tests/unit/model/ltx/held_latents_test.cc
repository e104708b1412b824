// SPDX-License-Identifier: Apache-2.0
// Extensions and retakes of LTX-Video: what they hold of their source is the source's to the bit,
// and so are the frames that the decoder makes of that alone.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "model/held_stretch.h"
#include "tests/unit/model/family/kept_draft.h"
#include "tests/unit/model/ltx/pipeline_run.h"

namespace reel::model::ltx {
namespace {

using ::testing::HasSubstr;

constexpr int kFilmLatents = 21, kFilmFrames = 161;

// Latents on either side of a frame's own that a tiny model's decoder sees. That of 0.9.0 has more
// layers.
int ReachOf(const std::string& release) { return release == "0.9.0" ? 11 : 7; }

class LtxHeldLatents : public LtxPipeline, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    LtxPipeline::SetUp();
    if (IsSkipped()) return;
    pipeline_ = Load(folder_);
    ASSERT_NE(pipeline_, nullptr);
  }
  static GenerationSpec Film() {
    GenerationSpec spec = TinySpec("text");
    spec.width = spec.height = 64;
    spec.num_frames = kFilmFrames;
    return spec;
  }
  struct Made {
    at::Tensor latents;         // [C, F, h, w]
    std::string state;          // as a file
    std::vector<float> frames;  // [T, H, W, 3]
  };
  void Finish(Generation& generation) {
    while (generation.step() < generation.num_steps()) {
      ASSERT_NO_FATAL_FAILURE(StepAll(*pipeline_, {&generation}, test_.run));
    }
  }
  Made MadeBy(std::unique_ptr<Generation> generation, const GenerationSpec& spec) {
    if (generation == nullptr) return {};
    Finish(*generation);
    Made made = {LatentsOf(*pipeline_, *generation), FileOf(*pipeline_, *generation, spec), {}};
    const at::Tensor values = DecodeAll(*pipeline_, *generation, test_.run).Values().contiguous();
    made.frames.assign(values.const_data_ptr<float>(),
                       values.const_data_ptr<float>() + values.numel());
    return made;
  }
  Made Whole() { return MadeBy(Begin(*pipeline_, Film(), test_.run), Film()); }
  Made From(const Made& source, const GenerationSpec& spec) {
    return MadeBy(BeginFrom(*pipeline_, spec, source.state, test_.run), spec);
  }
  static std::vector<float> FramesOf(const Made& made, int64_t begin, int64_t end) {
    constexpr int64_t kFrame = 64 * 64 * 3;
    return {made.frames.begin() + begin * kFrame, made.frames.begin() + end * kFrame};
  }

  const TestRun test_;
  const TinyFolder folder_{GetParam()};
  std::unique_ptr<Pipeline> pipeline_;
};

TEST_P(LtxHeldLatents, ARetakeHoldsEveryLatentOutsideAndNoneInside) {
  const Made source = Whole();
  struct Case {
    double begin, end;
    Stretch made;
  };
  for (const auto& [begin, end, made] :
       {Case{0, 0.04, {0, 1}}, Case{1, 1.2, {4, 5}}, Case{6.16, 6.44, {20, 21}},
        Case{0, 6.44, {0, kFilmLatents}}}) {
    const Made retake = From(source, RetakeOf(Film(), begin, end));
    ASSERT_TRUE(retake.latents.defined());
    for (int64_t frame = 0; frame < kFilmLatents; ++frame) {
      const bool is_inside = frame >= made.begin && frame < made.end;
      EXPECT_EQ(retake.latents.select(1, frame).equal(source.latents.select(1, frame)), !is_inside)
          << begin << ": " << frame;
    }
    EXPECT_TRUE(retake.latents.isfinite().all().item<bool>());
    EXPECT_EQ(retake.frames.size(), source.frames.size());
  }
}

TEST_P(LtxHeldLatents, FramesOfARetakeBeyondTheDecodersReachAreTheSources) {
  const Made source = Whole();
  const Made retake = From(source, RetakeOf(Film(), 6.16, 6.44));
  int64_t equal = 0;
  while (equal < kFilmFrames &&
         FramesOf(retake, equal, equal + 1) == FramesOf(source, equal, equal + 1)) {
    ++equal;
  }
  EXPECT_GE(equal, (kFilmLatents - 1 - ReachOf(GetParam())) * 8 - 7);
  EXPECT_LT(equal, kFilmFrames - 8) << "the decoder looks behind a latent, too";
}

TEST_P(LtxHeldLatents, AnExtensionBeginsWithTheSourcesLastLatentsAndFrames) {
  constexpr int kOverlap = 153, kHeld = 20, kNew = 16;
  const Made source = Whole();
  const GenerationSpec spec = ExtensionOf(Film(), kNew, kOverlap);
  const Made extension = From(source, spec);
  ASSERT_TRUE(extension.latents.defined());
  ASSERT_EQ(extension.latents.size(1), kHeld + kNew / 8);
  EXPECT_TRUE(extension.latents.slice(1, 0, kHeld).equal(source.latents.slice(1, 1)));
  EXPECT_EQ(FramesOf(extension, 0, 1).size() * static_cast<size_t>(spec.num_frames),
            extension.frames.size());
  const int reach = ReachOf(GetParam());
  const int64_t last = (kHeld - reach) * 8 - 7;
  // The source's own first latent is in front of it, so that nothing is missing there.
  EXPECT_EQ(FramesOf(extension, 0, last), FramesOf(source, 8, 8 + last));
}

TEST_P(LtxHeldLatents, AnExtensionGoesOnFromAnExtensionAndFromAllOfAShortVideo) {
  const Made source = Whole();
  const Made once = From(source, ExtensionOf(Film(), 8, 9));
  const Made twice = From(once, ExtensionOf(Film(), 8, 17));
  ASSERT_TRUE(twice.latents.defined());
  EXPECT_TRUE(twice.latents.slice(1, 0, 3).equal(once.latents));
  EXPECT_TRUE(twice.latents.slice(1, 0, 2).equal(source.latents.slice(1, kFilmLatents - 2)));
}

TEST_P(LtxHeldLatents, AreHeldAcrossParkingPiecesAndNeighbours) {
  const Made source = Whole();
  const GenerationSpec spec = RetakeOf(Film(), 1, 2);
  const Made retake = From(source, spec);
  const auto neighbour = Begin(*pipeline_, Film(), test_.run);
  auto again = BeginFrom(*pipeline_, spec, source.state, test_.run);
  ASSERT_NE(again, nullptr);
  while (again->step() < again->num_steps()) {
    ASSERT_TRUE(again->Park(true).ok() && again->Resume().ok());
    ASSERT_TRUE(pipeline_->Preview(*again, 48, test_.run).ok());
    ASSERT_NO_FATAL_FAILURE(StepAll(*pipeline_, {neighbour.get()}, test_.run));
    Generation* const batch[] = {again.get()};
    const auto step = pipeline_->BeginStep(batch, 4, test_.run);
    auto results = step->Next(test_.run);
    while (!results.has_value()) results = step->Next(test_.run);
    ASSERT_TRUE(results->at(0).ok()) << results->at(0);
  }
  const Made made = MadeBy(std::move(again), spec);
  EXPECT_TRUE(made.latents.equal(retake.latents));
  EXPECT_EQ(made.frames, retake.frames);
  EXPECT_EQ(made.state, retake.state);
}

TEST_P(LtxHeldLatents, AreRefusedWhereTheyDoNotFit) {
  const PassState made = ReadState(Whole().state)->made;
  const GenerationSpec retake = RetakeOf(Film(), 1, 2);
  for (const auto& [name, spoilt] : Spoilt(made)) {
    if (name.find("generator") != std::string::npos) continue;  // the request has its own
    const absl::Status refusal = Refusal(*pipeline_, retake, spoilt, test_.run);
    EXPECT_EQ(refusal.code(), absl::StatusCode::kFailedPrecondition) << name << refusal;
    EXPECT_THAT(std::string(refusal.message()), HasSubstr(name));
  }
  GenerationSpec longer = retake;
  longer.num_frames += 8;
  EXPECT_THAT(std::string(Refusal(*pipeline_, longer, made, test_.run).message()),
              HasSubstr("latents are [1,8,21,2,2], but of this model [1,8,22,2,2]"));
  EXPECT_THAT(
      std::string(
          Refusal(*pipeline_, ExtensionOf(Film(), 8, kFilmFrames + 8), made, test_.run).message()),
      HasSubstr("161 frames, fewer than the overlap, which has 169"));
}

// Their decoders: plain; with a time and noise; and the schedules with and without a shift.
INSTANTIATE_TEST_SUITE_P(Releases, LtxHeldLatents, ::testing::Values("0.9.0", "0.9.5"),
                         [](const auto& release) {
                           std::string name = release.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace reel::model::ltx
