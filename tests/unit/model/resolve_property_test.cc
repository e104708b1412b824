// SPDX-License-Identifier: Apache-2.0
// Properties of Resolve over many random requests, legal and not.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "model/resolve.h"
#include "tests/unit/model/example_card.h"

namespace reel::model {
namespace {

class RandomSpec {
 public:
  explicit RandomSpec(uint32_t seed) : random_(seed) {}

  GenerationSpec Make() {
    GenerationSpec spec;
    spec.preset = Pick<std::string>({"", "", "small", "distilled-4", "twice"}, {"unknown"});
    if (spec.preset == "twice" && Chance(2)) spec.stop_after_pass = Pick<int>({1}, {0, 2, kMax});
    if (Chance(4)) spec.keep_state = Chance(2);
    if (spec.preset == "twice" && Chance(4)) {
      spec.source = Source{.video = "videos/v", .begin = Source::Begin::kPromote};
    }
    spec.prompt = Pick<std::string>({"a fox", "\xC3\xA4"}, {"\xFF", ""});
    spec.negative_prompt = Pick<std::optional<std::string>>({std::nullopt, "", "rain"});
    spec.width = Size();
    spec.height = Size();
    spec.num_frames = Pick<int>({0, 0, 1, 9, 17, 257}, {100, -1, kMax, kMin});
    spec.frame_rate = Pick<double>({0, 0, 24, 1, 60, 23.976}, {-1, 1e300, kNaN});
    spec.num_inference_steps = Pick<int>({0, 0, 1, 3, 100}, {101, -5, kMax});
    if (Chance(4)) spec.timesteps = Pick<std::vector<double>>({{1000, 500, 1}, {1}}, {{1, 2}});
    spec.guidance_scale = Number(20);
    spec.guidance_rescale = Number(1);
    spec.stg_scale = Number(20);
    if (Chance(2)) spec.stg_blocks = Pick<std::vector<int>>({{0}, {27, 3}}, {{28}, {-1}, {3, 3}});
    if (Chance(2)) spec.condition_crf = Pick<int>({0, 33, 51}, {52, -1, kMax});
    if (Chance(20)) spec.decode_timestep = 0.05;
    spec.image_condition_noise_scale = Number(1);
    spec.cache.threshold = Number(1);
    if (Chance(2)) spec.cache.most_reused = Pick<int>({0, 3, 16}, {17, -1, kMax, kMin});
    if (Chance(2)) spec.seed = Pick<uint64_t>({0, 1, std::numeric_limits<uint64_t>::max()});
    spec.max_text_tokens = Pick<int>({0, 0, 1, 256}, {257, -1});
    for (int n = Pick<int>({0, 0, 1, 2}); n > 0; --n) spec.conditions.push_back(MakeCondition());
    for (int n = Pick<int>({0, 0, 1, 2}); n > 0; --n) {
      spec.adapters.push_back({Pick<std::string>({"grain", "secret"}, {"grane", "", "../x"}),
                               Pick<std::optional<double>>({std::nullopt, 0, -1.5}, {2, kNaN})});
    }
    spec.kernels.profile = Pick<std::string>({"", "reference"});
    spec.preview = {Pick<int>({0, 1, 5}, {-1}), Pick<int>({0, 32, 512}, {513, kMin})};
    if (Chance(20)) spec.normalise_loudness = Pick<double>({-70, -23, -5}, {-71, 0, kNaN});
    if (Chance(2)) spec.encoding.crf = Pick<int>({0, 51, 30}, {52});
    spec.encoding.speed =
        Pick<EncodingSpeed>({EncodingSpeed::kUnspecified, EncodingSpeed::kMedium});
    return spec;
  }

 private:
  static constexpr int kMax = std::numeric_limits<int>::max();
  static constexpr int kMin = std::numeric_limits<int>::min();
  static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

  bool Chance(uint32_t one_in) { return random_() % one_in == 0; }
  // One in twenty is illegal, where there are illegal ones.
  template <typename T>
  T Pick(std::vector<T> legal, std::vector<T> illegal = {}) {
    const std::vector<T>& values = illegal.empty() || !Chance(20) ? legal : illegal;
    return values[random_() % values.size()];
  }
  int Size() { return Pick<int>({0, 0, 32, 256, 512, 1536}, {500, 31, -32, kMax, kMin}); }
  std::optional<double> Number(double high) {
    if (Chance(2)) return std::nullopt;
    return Pick<double>({0, high, 0.5, 0.15}, {high + 1, -1, kNaN});
  }
  Condition MakeCondition() {
    Condition condition;
    condition.frame_index = Pick<int>({0}, {8, 1000, -1});
    if (Chance(2)) condition.strength = Pick<double>({0, 1}, {2, kNaN});
    if (Chance(20)) condition.attention_strength = 0.5;
    condition.bytes = std::make_shared<const std::string>(Pick<std::string>({"png", "jpeg"}, {""}));
    return condition;
  }

  std::mt19937 random_;
};

TEST(ResolveProperty, IsIdempotent) {
  const ModelCard card = ExampleCard();
  RandomSpec random(20240229);
  int legal = 0;
  for (int i = 0; i < 20'000 && legal < 500; ++i) {
    const Resolution once = Resolve(random.Make(), card, RequestLimits(), 1);
    if (!once.ok()) continue;
    ++legal;
    // Another seed at hand must not matter: the first answer has one.
    const Resolution twice = Resolve(once.spec, card, RequestLimits(), 2);
    EXPECT_TRUE(twice.ok()) << twice.violations[0].field << twice.violations[0].description;
    EXPECT_EQ(twice.spec, once.spec);
  }
  EXPECT_EQ(legal, 500) << "the generator makes too few legal specs to prove anything";
}

TEST(ResolveProperty, LegalSpecsStayWithinTheLimits) {
  const ModelCard card = ExampleCard();
  RandomSpec random(4);
  for (int i = 0; i < 10'000; ++i) {
    const Resolution resolved = Resolve(random.Make(), card, RequestLimits(), 1);
    if (!resolved.ok()) continue;
    const GenerationSpec& spec = resolved.spec;
    EXPECT_EQ(spec.width % 32, 0);
    EXPECT_EQ(spec.num_frames % 8, 1);
    EXPECT_GE(spec.num_steps(), 1);
    EXPECT_LE(spec.num_steps(), 100);
    EXPECT_LE(LatentTokens(spec, card), card.limits.max_latent_tokens);
    EXPECT_TRUE(spec.guidance_scale >= 0 && spec.guidance_scale <= 20);
  }
}

TEST(ResolveProperty, EveryViolationHasAFieldAndAShortDescription) {
  RandomSpec random(9);
  for (int i = 0; i < 5'000; ++i) {
    for (const auto& violation :
         Resolve(random.Make(), ExampleCard(), RequestLimits(), 1).violations) {
      EXPECT_FALSE(violation.field.empty());
      EXPECT_GT(violation.description.size(), 3u);
      EXPECT_LT(violation.description.size(), 200u) << violation.description;
    }
  }
}

}  // namespace
}  // namespace reel::model
