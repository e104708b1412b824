// SPDX-License-Identifier: Apache-2.0
// The attention between a video and its reference clips, against attention weights that are
// multiplied and normalised by hand, and against a bias for each pair of tokens.
#include "model/ltx2/reference_attention.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/bridge/attention_ops.h"
#include "model/ltx2/conditioning.h"
#include "model/ltx2/guided_calls.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

constexpr LatentShape kClip = {.frames = 3, .height = 2, .width = 3};
constexpr int64_t kChannels = 8, kSound = 7, kOwn = 18, kInside = 6, kTokens = 36;
constexpr double kStrengths[] = {0, 0.25, 1};
constexpr float kSigma = 0.7F;
constexpr double kBound = 5e-6;

// A clip of half the video's sides and one of its size, behind a picture inside the video.
std::vector<EncodedCondition> TwoReferences(double half, double full) {
  return {{.latents = Draw(31, {1, kChannels, 2, 1, 3}),
           .reference = ReferenceScale{2, 1},
           .attention_strength = half},
          {.latents = Draw(32, {1, kChannels, 1, 2, 3}), .frame_index = 9, .strength = 0.5},
          {.latents = Draw(33, {1, kChannels, 1, 2, 3}),
           .strength = 0.8,
           .reference = ReferenceScale{1, 1},
           .attention_strength = full}};
}

// The factor of the attention weight of each pair of tokens, [S, S].
at::Tensor Weights(double half, double full) {
  const auto group_of = [](int64_t token) {
    return token < kOwn ? 0 : token < kOwn + kInside ? 1 : token < kTokens - 6 ? 2 : 3;
  };
  at::Tensor weights = at::zeros({kTokens, kTokens});
  const double of_pairs[4][4] = {
      {1, 1, half, full}, {1, 1, 0, 0}, {half, 0, 1, 0}, {full, 0, 0, 1}};
  for (int64_t query = 0; query < kTokens; ++query) {
    for (int64_t key = 0; key < kTokens; ++key) {
      weights[query][key] = of_pairs[group_of(query)][group_of(key)];
    }
  }
  return weights;
}

using NoBias = std::vector<QueryBias>;

// One bias for each pair of tokens.
std::vector<QueryBias> PairBias(double half, double full) {
  const at::Tensor bias = Weights(half, full).log().clamp_min(-1e4);
  return {{0, kTokens, bias.view({1, 1, kTokens, kTokens})}};
}

class Ltx2ReferenceAttention : public ::testing::Test {
 protected:
  void SetUp() override {
    const TinyComponent tiny("transformer", "2.3");
    transformer_ = *Transformer::Load(
        tiny.weights(), *ReadTransformerConfig(tiny.config(), "config.json"), at::kFloat, at::kCPU);
  }
  PinnedClip Pinned(const std::vector<EncodedCondition>& conditions) const {
    return PinnedBy(conditions, transformer_->config(), kClip, 25, Draw(34, {1, kOwn, kChannels}));
  }
  // Of two texts, each token at its own time.
  DenoiseState StateWith(const PinnedClip& clip) const {
    const TransformerConfig& config = transformer_->config();
    const Texts texts = {Draw(23, {2, kTextTokens, config.video.width()}),
                         Draw(24, {2, kTextTokens, config.audio.width()})};
    DenoiseState state =
        StateOf(ops_, *transformer_, texts, {clip.tokens, Draw(22, {1, kSound, 8})}, clip.places);
    state.pins = clip.pins;
    state.references = clip.references;
    state.guidance.video = {.scale = 3, .perturbed_scale = 1, .isolated_scale = 2};
    state.guidance.audio = state.guidance.video;
    state.guidance.perturbed_blocks = {1};
    return state;
  }
  StreamTokens CleanOf(const DenoiseState& state) const {
    GuidedCalls calls(TransformerRanks(*transformer_), {{&state, state.latents, {kSigma, 700}}});
    while (!calls.done()) calls.Next(ops_);
    return calls.Clean()[0];
  }
  struct Call {
    bool is_negative = false, is_isolated = false;
    std::vector<int64_t> perturbed_blocks = {};
  };
  // A call of one text.
  StreamTokens PlainVelocity(const DenoiseState& state, const std::vector<QueryBias>& bias,
                             const Call& call) const {
    const at::Tensor sigma = at::tensor({700.0F});
    const at::Tensor times = (1 - state.pins.mask).squeeze(2) * 700;
    const auto text = [&](const TextContext& rows) -> TextContext {
      return {rows.tokens.narrow(0, call.is_negative ? 0 : 1, 1), {}};
    };
    VelocityInputs inputs = {.video = {.x = state.latents.video,
                                       .times = {times, sigma, sigma},
                                       .text = text(state.texts.video),
                                       .tables = state.video_tables},
                             .audio = {.x = state.latents.audio,
                                       .times = {sigma.unsqueeze(1), sigma, sigma},
                                       .text = text(state.texts.audio),
                                       .tables = state.audio_tables},
                             .is_isolated = call.is_isolated,
                             .perturbed_blocks = call.perturbed_blocks};
    inputs.video.self_bias = bias;
    return transformer_->Velocity(ops_, inputs);
  }
  // What CleanOf makes, call by call.
  StreamTokens PlainClean(const DenoiseState& state, const std::vector<QueryBias>& bias) const {
    const StreamTokens prompt = PlainVelocity(state, bias, {}),
                       negative = PlainVelocity(state, bias, {.is_negative = true}),
                       isolated = PlainVelocity(state, bias, {.is_isolated = true}),
                       perturbed = PlainVelocity(state, bias, {.perturbed_blocks = {1}});
    const auto guided = [&](at::Tensor StreamTokens::* stream, const DeltaGuidance& by) {
      const auto clean = [&](const StreamTokens& velocity) {
        return state.latents.*stream - velocity.*stream * kSigma;
      };
      return GuideByDeltas({clean(prompt), clean(negative), clean(perturbed), clean(isolated)}, by);
    };
    return {guided(&StreamTokens::video, state.guidance.video),
            guided(&StreamTokens::audio, state.guidance.audio)};
  }

  const c10::InferenceMode no_gradients_;
  const TestRun test_;
  const Ops ops_{test_.run};
  std::optional<Transformer> transformer_;
};

TEST_F(Ltx2ReferenceAttention, MultipliesTheWeightsBetweenVideoAndClipsBeforeTheyAreNormalised) {
  const at::Tensor q = Draw(1, {2, kTokens, 2, 16}), k = Draw(2, {2, kTokens, 2, 16}),
                   v = Draw(3, {2, kTokens, 2, 16});
  for (const double half : kStrengths) {
    for (const double full : kStrengths) {
      if (half == 1 && full == 1) continue;
      const PinnedClip clip = Pinned(TwoReferences(half, full));
      ASSERT_EQ(clip.tokens.size(1), kTokens);
      const at::Tensor scores = q.transpose(1, 2).matmul(k.permute({0, 2, 3, 1})) / 4;
      at::Tensor weights = (scores - scores.amax(-1, true)).exp() * Weights(half, full);
      weights = weights / weights.sum(-1, true);
      const at::Tensor plain = weights.matmul(v.transpose(1, 2)).transpose(1, 2);
      std::vector<at::Tensor> parts;
      for (const QueryBias& of : AttentionBias(clip.references, Draw(4, {2, kTokens, kChannels}))) {
        EXPECT_EQ(of.bias.size(2), 1) << "a row of keys for all its queries";
        parts.push_back(Attention(ops_, q.narrow(1, of.first, of.count), k, v, of.bias, 0));
      }
      EXPECT_EQ(parts.size(), 4u);
      const std::string what = std::to_string(half) + ", " + std::to_string(full);
      EXPECT_LT(RelativeError(what, at::cat(parts, 1), plain), kBound);
    }
  }
}

TEST_F(Ltx2ReferenceAttention, IsInEveryCallThatOfABiasForEachPairOfTokens) {
  for (const double half : kStrengths) {
    for (const double full : kStrengths) {
      const DenoiseState state = StateWith(Pinned(TwoReferences(half, full)));
      const bool is_full = half == 1 && full == 1;
      const StreamTokens plain = PlainClean(state, is_full ? NoBias() : PairBias(half, full)),
                         made = CleanOf(state);
      const std::string what = std::to_string(half) + ", " + std::to_string(full);
      EXPECT_LT(RelativeError(what + ", video", made.video, plain.video), kBound);
      EXPECT_LT(RelativeError(what + ", audio", made.audio, plain.audio), kBound);
    }
  }
}

// Where the sound does not look at the pictures, nothing else brings a clip to the video.
TEST_F(Ltx2ReferenceAttention, OfNoStrengthLeavesTheVideoAsWithAnyOtherClip) {
  std::vector<EncodedCondition> others = TwoReferences(0, 0);
  others[0].latents = Draw(41, {1, kChannels, 2, 1, 3});
  others[2].latents = Draw(43, {1, kChannels, 1, 2, 3});
  const auto own = [&](const std::vector<EncodedCondition>& conditions, bool is_biased) {
    const DenoiseState state = StateWith(Pinned(conditions));
    const auto bias = is_biased ? AttentionBias(state.references, state.latents.video) : NoBias();
    return PlainVelocity(state, bias, {.is_isolated = true}).video.slice(1, 0, kOwn);
  };
  EXPECT_TRUE(own(others, true).equal(own(TwoReferences(0, 0), true)));
  EXPECT_FALSE(own(others, false).equal(own(TwoReferences(0, 0), false)));
}

TEST_F(Ltx2ReferenceAttention, OfFullStrengthNeedsNoBiasAndSharesSteps) {
  const DenoiseState full = StateWith(Pinned(TwoReferences(1, 1))),
                     less = StateWith(Pinned(TwoReferences(1, 0.5)));
  EXPECT_TRUE(full.references.is_full());
  EXPECT_FALSE(less.references.is_full());
  EXPECT_TRUE(CanShareStep(full, full));
  EXPECT_FALSE(CanShareStep(full, less));
  EXPECT_FALSE(CanShareStep(less, full));
  EXPECT_FALSE(CanShareStep(less, less));
}

}  // namespace
}  // namespace reel::model::ltx2
