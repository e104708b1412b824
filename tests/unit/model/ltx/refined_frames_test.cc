// SPDX-License-Identifier: Apache-2.0
// Frames of a refined clip that leave while its later windows are refined are those of the whole
// way, to the bit.
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/ltx/refined_clip_fixture.h"

namespace reel::model::ltx {
namespace {

using ::testing::Each;

// What has left, and when.
struct Shown {
  std::vector<uint8_t> frames;
  std::vector<int> after_step;  // frames that have left by then
};

class LtxRefinedFrames : public LtxLongRefinedClip {
 protected:
  // `between` runs behind each step; then at most `most` pieces of frames leave.
  template <typename Between>
  Shown OnTheWay(const GenerationSpec& spec, Between between, int most = 1000) {
    Shown shown;
    CollectingSink sink(FrameFormat::kRgbF32);
    const auto generation = Begin(*pipeline_, spec, test_.run);
    EXPECT_FALSE(generation->has_frames());
    bool is_over = false;
    while (generation->step() < generation->num_steps()) {
      StepAll(*pipeline_, {generation.get()}, test_.run);
      between(*generation);
      const bool is_last = generation->step() == generation->num_steps();
      for (int i = 0; (is_last || i < most) && !is_over && generation->has_frames(); ++i) {
        const auto last = pipeline_->DecodeNext(*generation, sink, test_.run);
        EXPECT_TRUE(last.ok()) << last.status();
        if (!last.ok()) return shown;
        is_over = *last;
      }
      shown.after_step.push_back(sink.num_frames);
    }
    EXPECT_TRUE(is_over);
    shown.frames = sink.data;
    return shown;
  }
  Shown OnTheWay(const GenerationSpec& spec) {
    return OnTheWay(spec, [](Generation&) {});
  }
};

TEST_F(LtxRefinedFrames, LeaveBehindEachWindowAndAreThoseOfTheWholeWay) {
  for (const int frames : {kLong, 105, 161}) {
    const GenerationSpec spec = Spec({}, frames);
    const Shown shown = OnTheWay(spec);
    EXPECT_EQ(shown.frames, FramesOfAll(*Made(spec))) << frames;
    const size_t all = shown.after_step.size();
    for (size_t end = kOfAWindow; end <= all; end += kOfAWindow) {
      EXPECT_GT(shown.after_step[end - 1], end == kOfAWindow ? 0 : shown.after_step[end - 4])
          << end;
    }
    EXPECT_EQ(shown.after_step.back(), frames);
  }
}

TEST_F(LtxRefinedFrames, AreTheSameParkedOnTheHostAndTakenLateAndBesideOthers) {
  for (const RefinedCase& one : {RefinedCase{"plain"}, RefinedCase{"guided", 3}}) {
    const GenerationSpec spec = Spec(one, kLong);
    const std::vector<uint8_t> whole = FramesOfAll(*Made(spec));
    const auto neighbour = Begin(*pipeline_, Spec({}, 161), test_.run);
    const auto park = [&](Generation& generation) {
      ASSERT_TRUE(generation.Park(true).ok() && generation.Resume().ok());
      ASSERT_TRUE(pipeline_->Preview(generation, 48, test_.run).ok());
      if (neighbour->step() == neighbour->num_steps()) return;
      StepAll(*pipeline_, {neighbour.get()}, test_.run);
    };
    // All frames that are there, or a piece between two steps.
    for (const int most : {1000, 1}) EXPECT_EQ(OnTheWay(spec, park, most).frames, whole) << most;
    EXPECT_EQ(OnTheWay(spec, [](Generation&) {}, 3).frames, whole);
  }
}

// The decoder's noise does not depend on what steps have drawn when the decode begins.
TEST_F(LtxRefinedFrames, AreTheSameWhereStepsAndDecoderDraw) {
  DrawInSteps();
  const std::string file = folder_.path() + "/vae/config.json";
  nlohmann::json config = *ReadJsonFile(file);
  config["decoder_inject_noise"] = {true, true, true, true};
  std::ofstream(file) << config.dump();
  LoadOptions options;
  options.dtype = "fp32";
  options.random_weights = 1;
  pipeline_ = Load(folder_, options);
  ASSERT_NE(pipeline_, nullptr);
  const GenerationSpec spec = Spec({}, kLong);
  const Shown shown = OnTheWay(spec);
  EXPECT_GT(shown.after_step[kOfAWindow - 1], 0);
  EXPECT_EQ(shown.frames, FramesOfAll(*Made(spec)));
}

TEST_F(LtxRefinedFrames, OfAnAutoencoderInTilesWaitForTheLastWindow) {
  SayInCard(R"({"limits": {"max_frames": 57}, "vae_tiles": {"size": 96, "stride": 64}})");
  const GenerationSpec spec = Spec({}, kLong);
  const Shown shown = OnTheWay(spec);
  EXPECT_EQ(shown.after_step.back(), kLong);
  EXPECT_THAT(std::vector(shown.after_step.begin(), shown.after_step.end() - 1), Each(0));
  EXPECT_EQ(shown.frames, FramesOfAll(*Made(spec)));
}

}  // namespace
}  // namespace reel::model::ltx
