// SPDX-License-Identifier: Apache-2.0
#include "model/continuation_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

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

// What an extension or a retake of a video of 49 frames at 24 a second breaks.
template <typename Change>
std::vector<FieldViolation> Holding(Source::Begin begin, Change change) {
  return With([&](GenerationSpec& spec) {
    spec.source = Source{.video = "videos/v", .begin = begin};
    if (begin == Source::Begin::kRetake) {
      spec.num_frames = 49;
      spec.source->retake = {.begin = 0.5, .end = 1};
    } else {
      spec.source->extend = {.num_frames = 72, .overlap_frames = 25};
    }
    change(spec, *spec.source);
  });
}

template <typename Change>
std::vector<FieldViolation> Extending(Change change) {
  return Holding(Source::Begin::kExtend, change);
}

template <typename Change>
std::vector<FieldViolation> Retaking(Change change) {
  return Holding(Source::Begin::kRetake, change);
}

TEST(HoldingRules, AnExtensionIsWholeLatentsLongAndSoIsItsOverlap) {
  EXPECT_THAT(Extending([](auto&, auto&) {}), IsEmpty());
  for (const int wrong : {0, -8, 71, 2'000'000'000}) {
    EXPECT_THAT(Extending([&](auto&, Source& source) { source.extend.num_frames = wrong; }),
                ElementsAre(Violation("source.extend.num_frames", "nearest: ")))
        << wrong << ": alone, not beside the length that follows from it";
  }
  for (const int wrong : {-1, 24, 1000}) {
    EXPECT_THAT(Extending([&](auto&, Source& source) { source.extend.overlap_frames = wrong; }),
                ElementsAre(Violation("source.extend.overlap_frames", "nearest: ")))
        << wrong;
  }
  EXPECT_THAT(Extending([](GenerationSpec& spec, auto&) { spec.num_frames = 49; }),
              ElementsAre(Violation("num_frames", "nearest: 97")));
  EXPECT_THAT(Extending([](auto&, Source& source) { source.extend.num_frames = 240; }),
              ElementsAre(Violation("source.extend.num_frames", "nearest: 232")))
      << "the whole clip obeys the model's limit";
  EXPECT_THAT(Extending([](auto&, Source& source) { source.extend.num_frames = 2'147'483'647; }),
              ElementsAre(Violation("source.extend.num_frames", "nearest: ")));
}

TEST(HoldingRules, AnExtensionIsToldInItsOwnFieldsAndBeforeAllElse) {
  EXPECT_THAT(Extending([](GenerationSpec& spec, Source& source) {
                source.extend.num_frames = 7;
                spec.frame_rate = 1000;
              }),
              ElementsAre(Violation("source.extend.num_frames", "nearest: 8"),
                          Violation("frame_rate", "")));
  EXPECT_THAT(Extending([](GenerationSpec& spec, Source& source) {
                spec.width = spec.height = 1536;
                source.extend.num_frames = 136;
              }),
              ElementsAre(Violation("source.extend.num_frames", "latent tokens")));
}

TEST(HoldingRules, AJoinedFileObeysTheFrameLimit) {
  const auto joined = [](int source_frames, int num_frames) {
    return Extending(
        [=](auto&, Source& source) { source.extend = {num_frames, 25, true, source_frames}; });
  };
  EXPECT_THAT(joined(185, 72), IsEmpty()) << "257 in all";
  EXPECT_THAT(joined(193, 72),
              ElementsAre(Violation("source.extend.num_frames", "above 257; nearest: 64")));
  EXPECT_THAT(joined(257, 8),
              ElementsAre(Violation("source.extend.num_frames", "nearest: leave join out")));
}

TEST(HoldingRules, TheSoundOfAJoinedFileNeedsAnOverlapToGoOverIn) {
  ModelCard card = ExampleCard();
  card.sound = {24'000, 2};
  const auto overlapping = [&](int overlap, double frame_rate, std::optional<bool> sound) {
    GenerationSpec spec;
    spec.prompt = "a fox";
    spec.frame_rate = frame_rate;
    spec.sound = sound;
    spec.source = Source{.video = "videos/v", .begin = Source::Begin::kExtend};
    spec.source->extend = {8, overlap, true, 49};
    return Resolve(spec, card, RequestLimits(), 7).violations;
  };
  EXPECT_THAT(overlapping(9, 24, {}), IsEmpty());
  EXPECT_THAT(overlapping(1, 24, {}),
              ElementsAre(Violation("source.extend.overlap_frames", "nearest: 9")));
  EXPECT_THAT(overlapping(9, 60, {}),
              ElementsAre(Violation("source.extend.overlap_frames", "nearest: 17")));
  EXPECT_THAT(overlapping(1, 24, false), IsEmpty());
}

TEST(HoldingRules, ARetakeHasABeginBeforeItsEndAndBothWithinTheVideo) {
  EXPECT_THAT(Retaking([](auto&, auto&) {}), IsEmpty());
  const auto of = [](double begin, double end) {
    return Retaking([&](auto&, Source& source) {
      source.retake.begin = begin;
      source.retake.end = end;
    });
  };
  EXPECT_THAT(of(0, 49.0 / 24), IsEmpty());
  EXPECT_THAT(of(0, 2.05), IsEmpty()) << "the video's end, rounded to hundredths";
  EXPECT_THAT(of(0, 50.0 / 24), ElementsAre(Violation("source.retake.end", "nearest: 2.04167 s")));
  EXPECT_THAT(of(1, 1), ElementsAre(Violation("source.retake.end", "not behind the begin")));
  EXPECT_THAT(of(1, 0.5), ElementsAre(Violation("source.retake.end", "not behind the begin")));
  EXPECT_THAT(of(0, 3), ElementsAre(Violation("source.retake.end", "behind the video's end")));
  EXPECT_THAT(of(-1, 1), Contains(Violation("source.retake.begin", "nearest: 0")));
  EXPECT_THAT(of(std::nan(""), 1), Contains(Violation("source.retake.begin", "")));
}

TEST(HoldingRules, ARetakeLeavesSomethingToMakeThatTheModelHas) {
  const auto keeps = [](bool pictures, bool sound) {
    return Retaking([&](auto&, Source& source) {
      source.retake.keep_pictures = pictures;
      source.retake.keep_sound = sound;
    });
  };
  EXPECT_THAT(keeps(true, false),
              ElementsAre(Violation("source.retake.keep_pictures", "makes no sound")));
  EXPECT_THAT(keeps(false, true),
              ElementsAre(Violation("source.retake.keep_sound", "makes no sound")));
  EXPECT_THAT(keeps(true, true),
              Contains(Violation("source.retake.keep_sound", "leaves nothing to make")));
}

TEST(HoldingRules, NothingElsePinsOrWeakensWhatIsHeld) {
  EXPECT_THAT(Retaking([](GenerationSpec& spec, auto&) {
                spec.preset = "twice";
                spec.width = spec.height = 192;
              }),
              ElementsAre(Violation("preset", "'twice' makes several passes")));
  EXPECT_THAT(Retaking([](GenerationSpec& spec, auto&) { spec.stop_after_pass = 1; }),
              ElementsAre(Violation("stop_after_pass", "source.retake makes one pass")));
  EXPECT_THAT(
      Extending([](GenerationSpec& spec, auto&) { spec.conditions.emplace_back().size_bytes = 3; }),
      ElementsAre(Violation("conditions", "nearest: 0")));
}

}  // namespace
}  // namespace reel::model
