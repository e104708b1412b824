// SPDX-License-Identifier: Apache-2.0
// The parts of a call that the ranks of a group are given. Of the pictures each rank makes its own
// tokens, of the sound all, the same bits on every rank.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/bridge/rank_run.h"
#include "model/ltx2/rank_inputs.h"
#include "model/ltx2/reference_attention.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx2/group_devices.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

constexpr LatentShape kShape = {.frames = 3, .height = 2, .width = 5};
constexpr int64_t kRows = 2, kAudioLatents = 7;

// What a call may be told; each adds one thing.
enum class Told {
  kPlain,
  kTimeOfEachToken,
  kFewTimes,
  kMask,
  kReference,
  kKeyframes,
  kIsolated,
  kPerturbed
};
constexpr Told kAll[] = {Told::kPlain,    Told::kTimeOfEachToken, Told::kFewTimes,
                         Told::kMask,     Told::kReference,       Told::kKeyframes,
                         Told::kIsolated, Told::kPerturbed};

class Ltx2RankInputs : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!DeviceUnderTest().ok() || !OnCpus()) GTEST_SKIP() << "SKIPPED: for CPUs";
  }
  static Transformer Loaded() {
    const TinyComponent tiny("transformer", GetParam());
    return *Transformer::Load(tiny.weights(), *ReadTransformerConfig(tiny.config(), "config.json"),
                              at::kFloat, at::kCPU);
  }

  VelocityInputs InputsFor(Told told) const {
    const TransformerConfig& config = transformer_.config();
    const int64_t tokens = kShape.tokens();
    const auto text_of = [&](Stream stream, uint64_t seed, int64_t width) {
      const int64_t channels = config.projects_captions ? config.caption_channels : width;
      return transformer_.Prepare(ops_, stream, Draw(seed, {kRows, kTextTokens, channels}),
                                  at::ones({kRows, kTextTokens}));
    };
    const at::Tensor sigma = at::tensor({725.0f, 31.0f});
    const StreamTimes times = {sigma.unsqueeze(1), sigma,
                               config.modulates_text ? sigma : at::Tensor()};
    VelocityInputs inputs = {
        .video = {.x = Draw(21, {kRows, tokens, 8}),
                  .times = times,
                  .text = text_of(Stream::kVideo, 23, config.video.width()),
                  .tables = MakeVideoTables(config, VideoPlaces(config, kShape, 24))},
        .audio = {.x = Draw(22, {kRows, kAudioLatents, 8}),
                  .times = times,
                  .text = text_of(Stream::kAudio, 24, config.audio.width()),
                  .tables = MakeAudioTables(config, AudioPlaces(config, kAudioLatents))}};
    const at::Tensor parts = at::linspace(0, 1, kRows * tokens).view({kRows, tokens});
    if (told == Told::kTimeOfEachToken) inputs.video.times.own = parts * sigma.unsqueeze(1);
    if (told == Told::kFewTimes) {
      inputs.video.times.own = at::tensor({725.0f, 31.0f, 400.0f}).unsqueeze(1);
      inputs.video.times.vector_of = (parts * 2.5).to(at::kInt);
    }
    if (told == Told::kMask) {
      inputs.video.self_bias = transformer_.SelfBias(Draw(25, {kRows, tokens, tokens}).sigmoid());
    }
    if (told == Told::kReference) {  // the video's tokens, one of a condition, two clips
      inputs.video.self_bias =
          AttentionBias({16, {{17, 4, 0.25}, {21, tokens - 21, 0}}}, inputs.video.x);
    }
    if (told == Told::kKeyframes) inputs.video.keyframes = (parts > 0.4).unsqueeze(2).to(at::kInt);
    inputs.is_isolated = told == Told::kIsolated;
    if (told == Told::kPerturbed) inputs.perturbed_blocks = {1};
    return inputs;
  }

  // Of those rows, by all ranks, as the whole call makes them.
  void ExpectDivided(RankCrew& crew, Told told, const RowRange& rows) const {
    const VelocityInputs inputs = InputsFor(told);
    const StreamTokens all = transformer_.Velocity(ops_, inputs);
    const auto own_rows = [&](const at::Tensor& x) { return x.narrow(0, rows.first, rows.count); };
    const std::vector<RankTokens> parts = RankTokens::OfCrew(crew, false, inputs.video.x.size(1));
    std::vector<StreamTokens> made(parts.size());
    RunOnRanks(crew, ops_, [&](int number, const Ops& by) {
      const auto rank = static_cast<size_t>(number);
      made[rank] = transformer_.Velocity(by, PartOf(inputs, {parts[rank], rows}));
    });
    const std::string what = std::to_string(crew.size()) + " ranks, rows from " +
                             std::to_string(rows.first) + ", " +
                             std::to_string(static_cast<int>(told));
    std::vector<at::Tensor> video;
    for (size_t rank = 0; rank < made.size(); ++rank) {
      EXPECT_TRUE(made[rank].audio.equal(made[0].audio)) << what << ", rank " << rank;
      EXPECT_EQ(made[rank].video.size(1), parts[rank].own().count);
      video.push_back(made[rank].video);
    }
    EXPECT_LT(RelativeError(what + ", video", at::cat(video, 1), own_rows(all.video)), 2e-6);
    EXPECT_LT(RelativeError(what + ", audio", made[0].audio, own_rows(all.audio)), 2e-6);
  }

  const c10::InferenceMode no_gradients_;
  const TestRun test_;
  const Ops ops_{test_.run};
  const Transformer transformer_ = Loaded();
};

TEST_P(Ltx2RankInputs, GiveItsTokensAndTheSameSoundOnEveryRank) {
  for (const int ranks : {2, 3, 4}) {
    RankCrew crew(std::vector<at::Device>(static_cast<size_t>(ranks), at::kCPU));
    for (const Told told : kAll) ExpectDivided(crew, told, {0, kRows});
  }
}

// As where each half of the ranks has half of the rows.
TEST_P(Ltx2RankInputs, GiveItsRowsAlone) {
  RankCrew crew(std::vector<at::Device>(2, at::kCPU));
  for (const Told told : kAll) {
    for (int64_t row = 0; row < kRows; ++row) ExpectDivided(crew, told, {row, 1});
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Ltx2RankInputs, ::testing::Values("2.0", "2.3", "2.5"));

}  // namespace
}  // namespace reel::model::ltx2
