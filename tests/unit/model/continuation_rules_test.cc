// SPDX-License-Identifier: Apache-2.0
#include "model/continuation_rules.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/model/resolve_example.h"

namespace reel::model {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What a draft of this preset breaks that stops after so many passes.
std::vector<FieldViolation> DraftOf(const char* preset, int passes) {
  return With([&](GenerationSpec& spec) {
    spec.preset = preset;
    spec.width = spec.height = 192;
    spec.stop_after_pass = passes;
  });
}

std::vector<FieldViolation> PromotionOf(const char* preset) {
  return With([&](GenerationSpec& spec) {
    spec.preset = preset;
    spec.width = spec.height = 192;
    spec.source = Source{.video = "videos/v", .begin = Source::Begin::kPromote};
  });
}

TEST(DraftRules, ADraftStopsBehindAPassThatIsNotTheLast) {
  EXPECT_THAT(DraftOf("twice", 1), IsEmpty());
  for (const int passes : {0, -1, 2, 3}) {
    EXPECT_THAT(DraftOf("twice", passes), ElementsAre(Violation("stop_after_pass", "nearest: 1")))
        << passes;
  }
}

TEST(DraftRules, APresetOfOnePassIsNamedAndSoAreThoseOfSeveral) {
  EXPECT_THAT(DraftOf("small", 1),
              ElementsAre(Violation("stop_after_pass",
                                    "preset 'small' makes one pass; presets of "
                                    "several: twice; nearest: leave it out")));
  EXPECT_THAT(DraftOf("", 1), ElementsAre(Violation("stop_after_pass", "without a preset")));
  ModelCard card = ExampleCard();
  card.presets.clear();
  GenerationSpec spec;
  spec.prompt = "a fox";
  spec.stop_after_pass = 1;
  EXPECT_THAT(ResolveExample(spec, card).violations,
              ElementsAre(Violation("stop_after_pass", "this model has no preset of several")));
}

TEST(DraftRules, ADraftIsRefusedWhereItsVideoWouldHaveTooManyTokens) {
  const auto draft = [](int frames) {
    return With([&](GenerationSpec& spec) {
      spec.preset = "twice";
      spec.width = spec.height = 1152;
      spec.num_frames = frames;
      spec.stop_after_pass = 1;
    });
  };
  EXPECT_THAT(draft(97), IsEmpty());
  EXPECT_THAT(draft(113), ElementsAre(Violation("num_frames", "with a pass at 1536x1536")));
}

TEST(PromotionRules, APromotionIsOfAPresetWithPassesThatAreLeft) {
  EXPECT_THAT(PromotionOf("twice"), IsEmpty());
  EXPECT_THAT(PromotionOf("small"), ElementsAre(Violation("source.promote", "makes one pass")));
  EXPECT_THAT(With([](GenerationSpec& spec) {
                spec.preset = "twice";
                spec.width = spec.height = 192;
                spec.stop_after_pass = 1;
                spec.source = Source{.begin = Source::Begin::kPromote};
              }),
              ElementsAre(Violation("stop_after_pass", "nearest: leave it out")));
}

TEST(SourceRules, ASourceSaysHowToGoOnFromWhichState) {
  const auto with = [](Source source) {
    return With([&](GenerationSpec& spec) {
      spec.preset = "twice";
      spec.width = spec.height = 192;
      spec.source = source;
    });
  };
  EXPECT_THAT(with({.video = "videos/v"}), ElementsAre(Violation("source", "nearest: promote")));
  EXPECT_THAT(with({.begin = Source::Begin::kPromote, .state_sha256 = std::string(64, 'a')}),
              IsEmpty());
  for (const std::string& wrong :
       {std::string("abc"), std::string(64, 'A'), std::string(64, 'g')}) {
    EXPECT_THAT(with({.begin = Source::Begin::kPromote, .state_sha256 = wrong}),
                Contains(Violation("source.state_sha256", "64 digits of lower-case hex")));
  }
}

}  // namespace
}  // namespace reel::model
