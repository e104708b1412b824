// SPDX-License-Identifier: Apache-2.0
// Drafts, the states that jobs leave, and jobs that begin from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kernels/base/digest/sha256.h"
#include "model/states/video_state.h"
#include "model/testcard/picture.h"
#include "server/errors/error.h"
#include "server/worker/media/fragmented_file.h"
#include "tests/fakes/decoded_video.h"
#include "tests/unit/server/worker/engine/engine_fixture.h"

namespace reel::worker {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class EngineStatesTest : public EngineTest {
 protected:
  // The whole video.
  static model::GenerationSpec Film() {
    model::GenerationSpec spec;
    spec.prompt = "a fox";
    spec.seed = 7;
    spec.preset = "two-pass";
    return spec;
  }
  static model::GenerationSpec Draft() {
    model::GenerationSpec spec = Film();
    spec.stop_after_pass = 1;
    spec.keep_state = true;
    return spec;
  }
  static model::GenerationSpec PromotionFrom(const std::string& state) {
    model::GenerationSpec spec = Film();
    spec.source = model::Source{.video = "videos/draft",
                                .begin = model::Source::Begin::kPromote,
                                .state_sha256 = Sha256Hex(state),
                                .state = std::make_shared<const std::string>(state)};
    return spec;
  }
  RecordingEvents::Ended Run(const std::string& name, const model::GenerationSpec& spec) {
    engine().Post(Job(name, Resolved(spec)));
    EXPECT_TRUE(events_.WaitForEnd(name));
    return events_.ended(name);
  }
  std::string StateOfDraft() {
    const auto ended = Run("draft", Draft());
    EXPECT_TRUE(ended.error.ok()) << ended.error;
    return events_.state("draft");
  }
};

TEST_F(EngineStatesTest, ADraftIsAFileOfItsPassesSizeAndLeavesItsState) {
  Start();
  const auto draft = Run("draft", Draft());
  ASSERT_TRUE(draft.error.ok()) << draft.error;
  EXPECT_EQ(draft.result.media.width, 128);
  EXPECT_EQ(draft.result.media.height, 96);
  const std::string state = events_.state("draft");
  EXPECT_EQ(draft.result.state_size_bytes, static_cast<int64_t>(state.size()));
  EXPECT_EQ(draft.result.state_sha256, Sha256Hex(state));
  const auto read = model::ReadState(state);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->made.passes, 1);
  EXPECT_TRUE(events_.contiguous()) << "a state comes in order, before its job's end";
}

TEST_F(EngineStatesTest, APromotionMakesTheRestAndTheSameFileAsTheWholeVideo) {
  Start();
  const std::string state = StateOfDraft();
  const auto promoted = Run("promoted", PromotionFrom(state));
  ASSERT_TRUE(promoted.error.ok()) << promoted.error;
  const auto whole = Run("whole", Film());
  ASSERT_TRUE(whole.error.ok()) << whole.error;
  EXPECT_EQ(events_.file("promoted"), events_.file("whole"));
  EXPECT_FALSE(events_.file("promoted").empty());
  EXPECT_EQ(promoted.result.media.width, 256);
  EXPECT_EQ(promoted.result.media.height, 192);
  EXPECT_EQ(events_.progress("promoted").back().second, 2);
  EXPECT_EQ(events_.progress("whole").back().second, 6);
  EXPECT_EQ(events_.progress("draft").back().second, 4);
}

TEST_F(EngineStatesTest, APromotionBesideOthersParkedInBetweenIsTheSameFile) {
  // On the engine's thread: it is parked before its next step.
  events_.on_progress = [this](const JobRef& ref, model::Stage stage, int step) {
    if (ref.job != "promoted" || stage != model::Stage::kDenoise || step != 1) return;
    engine().Post(ParkJob{"promoted", true});
  };
  Start();
  const std::string state = StateOfDraft();
  Assign("neighbour", -1);
  engine().Post(Job("promoted", Resolved(PromotionFrom(state))));
  ASSERT_TRUE(events_.WaitForParked("promoted"));
  engine().Post(ResumeJob{"promoted"});
  ASSERT_TRUE(events_.WaitForEnd("promoted"));
  ASSERT_TRUE(events_.ended("promoted").error.ok());
  ASSERT_TRUE(Run("whole", Film()).error.ok());
  EXPECT_EQ(events_.file("promoted"), events_.file("whole"));
}

TEST_F(EngineStatesTest, ThePromotionsStateIsThatOfTheWholeVideo) {
  Start();
  model::GenerationSpec promotion = PromotionFrom(StateOfDraft()), whole = Film();
  promotion.keep_state = whole.keep_state = true;
  ASSERT_TRUE(Run("promoted", promotion).error.ok());
  ASSERT_TRUE(Run("whole", whole).error.ok());
  EXPECT_EQ(events_.state("promoted"), events_.state("whole"));
  EXPECT_EQ(model::ReadState(events_.state("whole"))->made.passes, 2);
}

TEST_F(EngineStatesTest, ARetakeOfAWholeVideoHoldsItsLatentsAndTellsWhatItMadeAnew) {
  Start();
  model::GenerationSpec film;
  film.prompt = "a fox";
  film.seed = 7;
  film.preset = "quick";
  film.keep_state = true;
  ASSERT_TRUE(Run("film", film).error.ok());
  const std::string state = events_.state("film");
  model::GenerationSpec again = film;
  again.prompt = "an owl";
  again.source = model::Source{.video = "videos/film",
                               .begin = model::Source::Begin::kRetake,
                               .state_sha256 = Sha256Hex(state),
                               .state = std::make_shared<const std::string>(state)};
  again.source->retake = {.begin = 0.5, .end = 0.6};
  const auto retake = Run("retake", again);
  ASSERT_TRUE(retake.error.ok()) << retake.error;
  ASSERT_EQ(retake.result.notices.size(), 1U);
  EXPECT_EQ(retake.result.notices[0].code, "RETAKE_OF_WHOLE_LATENTS");
  EXPECT_THAT(retake.result.notices[0].message, HasSubstr("frames 9 to 16"));
  const auto latents = [&](const std::string& of) {
    return model::ReadState(events_.state(of))->made.tensors.at("latents");
  };
  EXPECT_EQ(latents("retake").shape, latents("film").shape);
  EXPECT_NE(latents("retake"), latents("film"));
  // Frames 0, 1 to 8, 9 to 16, and 17 to 24. The test card's decoder sees one latent alone.
  const std::string file = events_.file("film"), made_anew = events_.file("retake");
  const auto theirs = ReadFragments(file), own = ReadFragments(made_anew);
  ASSERT_TRUE(theirs.ok() && own.ok());
  ASSERT_EQ(own->fragments.size(), 4U);
  for (const size_t fragment : {0U, 1U, 3U}) {
    EXPECT_EQ(own->fragments[fragment].bytes, theirs->fragments[fragment].bytes) << fragment;
  }
  EXPECT_NE(own->fragments[2].bytes, theirs->fragments[2].bytes);

  again.source->state = std::make_shared<const std::string>(state);
  again.source->begin = model::Source::Begin::kExtend;
  again.source->extend = {.num_frames = 8, .overlap_frames = 25};
  again.num_frames = 33;
  const auto extension = Run("extension", again);
  ASSERT_TRUE(extension.error.ok()) << extension.error;
  EXPECT_THAT(extension.result.notices, IsEmpty());
  EXPECT_EQ(latents("extension").shape[2], 5);
}

class EngineJoinsTest : public EngineStatesTest {
 protected:
  EngineJoinsTest() { test_card_.sound = true; }
  static model::GenerationSpec Sounding(const model::GenerationSpec& spec) {
    model::TestCardOptions options;
    options.sound = true;
    const auto card = model::TestCardModelCard("testcard", options);
    const auto resolved = model::Resolve(spec, card, model::RequestLimits(), 1);
    EXPECT_TRUE(resolved.ok()) << (resolved.ok() ? "" : resolved.violations[0].field);
    return resolved.spec;
  }
  // Of 49 frames, which keeps its state.
  static model::GenerationSpec Clip() {
    model::GenerationSpec spec;
    spec.prompt = "a fox";
    spec.seed = 7;
    spec.preset = "quick";
    spec.num_frames = 49;
    spec.frame_rate = 24;
    spec.keep_state = true;
    return spec;
  }
  model::GenerationSpec JoinedTo(const std::string& name, int source_frames) {
    model::GenerationSpec spec = Clip();
    const std::string state = events_.state(name);
    spec.prompt = "an owl";
    spec.num_frames = 0;
    spec.source = model::Source{.video = "videos/" + name,
                                .begin = model::Source::Begin::kExtend,
                                .state_sha256 = Sha256Hex(state),
                                .state = std::make_shared<const std::string>(state)};
    spec.source->extend = {24, 25, true, source_frames};
    return spec;
  }
  RecordingEvents::Ended RunSounding(const std::string& name, const model::GenerationSpec& spec) {
    engine().Post(Job(name, Sounding(spec)));
    EXPECT_TRUE(events_.WaitForEnd(name));
    return events_.ended(name);
  }
};

TEST_F(EngineJoinsTest, AJoinedFileBeginsWithItsSourcesAndCanBeJoinedToAgain) {
  Start();
  ASSERT_TRUE(RunSounding("film", Clip()).error.ok());
  const auto joined = RunSounding("joined", JoinedTo("film", 49));
  ASSERT_TRUE(joined.error.ok()) << joined.error;
  EXPECT_EQ(joined.result.media.duration, absl::Seconds(73 / 24.0));
  EXPECT_EQ(joined.result.media.size_bytes, static_cast<int64_t>(events_.file("joined").size()));
  EXPECT_TRUE(events_.contiguous());
  const auto again = RunSounding("again", JoinedTo("joined", 73));
  ASSERT_TRUE(again.error.ok()) << again.error;

  const auto film = reel::testing::Decode(events_.file("film"));
  const auto first = reel::testing::Decode(events_.file("joined"));
  const auto last = reel::testing::Decode(events_.file("again"));
  ASSERT_TRUE(film.ok() && first.ok()) << first.status();
  ASSERT_TRUE(last.ok()) << last.status();
  ASSERT_EQ(first->luma.size(), 73U);
  ASSERT_EQ(last->luma.size(), 97U);
  EXPECT_EQ(last->sound.size() / 2 / 2'000, 97U) << "48,000 samples a second";
  for (size_t i = 0; i < 25; ++i) EXPECT_EQ(first->luma[i], film->luma[i]) << i;
  for (size_t i = 0; i < 49; ++i) EXPECT_EQ(last->luma[i], first->luma[i]) << i;
  const auto code = [&](size_t frame) {
    return model::DecodeCode(last->luma[frame], first->width, first->width, first->height);
  };
  const auto hash = [&](const std::string& prompt) {
    return model::PictureHash(prompt, 7, first->width, first->height);
  };
  for (int i = 0; i < 49; ++i) {
    EXPECT_EQ(code(static_cast<size_t>(i)), (model::PictureCode{hash("a fox"), i})) << i;
  }
  EXPECT_EQ(code(49), (model::PictureCode{hash("an owl"), 25})) << "the first new frame";
  EXPECT_EQ(code(72), (model::PictureCode{hash("an owl"), 48}));
}

TEST_F(EngineJoinsTest, TheSameRequestGivesTheSameFile) {
  Start();
  ASSERT_TRUE(RunSounding("film", Clip()).error.ok());
  ASSERT_TRUE(RunSounding("once", JoinedTo("film", 49)).error.ok());
  ASSERT_TRUE(RunSounding("twice", JoinedTo("film", 49)).error.ok());
  EXPECT_EQ(events_.file("once"), events_.file("twice"));
  EXPECT_EQ(events_.state("once"), events_.state("twice"));
}

TEST_F(EngineJoinsTest, WhatCannotBeJoinedFailsBeforeItIsRendered) {
  Start();
  ASSERT_TRUE(RunSounding("film", Clip()).error.ok());
  const auto other_length = RunSounding("other_length", JoinedTo("film", 57));
  EXPECT_EQ(ReasonOf(other_length.error), Reason::kStateNotForModel);
  EXPECT_THAT(std::string(other_length.error.message()), HasSubstr("49 frames instead of 57"));
  EXPECT_THAT(events_.progress("other_length"), IsEmpty());

  const auto with_file = [&](const std::string& file) {
    const auto kept = *model::ReadState(events_.state("film"));
    model::GenerationSpec spec = JoinedTo("film", 49);
    spec.source->state = std::make_shared<const std::string>(
        model::WriteState(kept.spec, events_.card("testcard"), kept.made, file));
    return spec;
  };
  const auto without = RunSounding("without", with_file(""));
  EXPECT_EQ(ReasonOf(without.error), Reason::kStateGone);
  EXPECT_THAT(std::string(without.error.message()), HasSubstr("has no file"));
  const auto foreign = RunSounding("foreign", with_file("no MP4"));
  EXPECT_EQ(ReasonOf(foreign.error), Reason::kStateNotForModel);
  EXPECT_FALSE(foreign.suspect);
}

TEST_F(EngineStatesTest, AJobLeavesNoStateUnlessItsSpecSaysSo) {
  Start();
  for (const auto& keep : {std::optional<bool>(), std::optional<bool>(false)}) {
    model::GenerationSpec spec = Draft();
    spec.keep_state = keep;
    const std::string name = keep ? "refused" : "unset";
    const auto ended = Run(name, spec);
    ASSERT_TRUE(ended.error.ok()) << ended.error;
    EXPECT_THAT(events_.state(name), IsEmpty());
    EXPECT_EQ(ended.result.state_size_bytes, 0);
    EXPECT_THAT(ended.result.state_sha256, IsEmpty());
  }
}

TEST_F(EngineStatesTest, AStateThatDidNotArriveOrIsDamagedIsGone) {
  Start();
  const std::string state = StateOfDraft();
  model::GenerationSpec missing = PromotionFrom(state);
  missing.source->state = nullptr;
  const std::pair<const char*, model::GenerationSpec> cases[] = {
      {"missing", missing},
      {"cut", PromotionFrom(state.substr(0, state.size() - 1))},
      {"empty", PromotionFrom("")},
      {"foreign", PromotionFrom("no state at all")}};
  for (const auto& [name, spec] : cases) {
    const auto ended = Run(name, spec);
    EXPECT_EQ(ReasonOf(ended.error), Reason::kStateGone) << name << ": " << ended.error;
    EXPECT_FALSE(ended.suspect) << name;
  }
  EXPECT_TRUE(Run("after", PromotionFrom(state)).error.ok()) << "nothing else is affected";
}

TEST_F(EngineStatesTest, AStateOfAnotherRequestOrModelIsRefusedByWhatDiffers) {
  Start();
  const std::string state = StateOfDraft();
  model::GenerationSpec other = PromotionFrom(state);
  other.seed = 8;
  other.prompt = "an owl";
  const auto refused = Run("other", other);
  EXPECT_EQ(ReasonOf(refused.error), Reason::kStateNotForModel) << refused.error;
  EXPECT_THAT(std::string(refused.error.message()), HasSubstr("what differs: prompt, seed"));
  EXPECT_FALSE(refused.suspect);

  auto kept = *model::ReadState(state);
  model::ModelCard card = events_.card("testcard");
  card.parameters = 2'000'000'000;
  const auto foreign = Run("foreign", PromotionFrom(model::WriteState(kept.spec, card, kept.made)));
  EXPECT_EQ(ReasonOf(foreign.error), Reason::kStateNotForModel);
  EXPECT_THAT(std::string(foreign.error.message()), HasSubstr("the number of parameters"));

  kept.made.tensors.clear();  // the pipeline looks for itself
  const auto empty =
      Run("no_latents",
          PromotionFrom(model::WriteState(kept.spec, events_.card("testcard"), kept.made)));
  EXPECT_EQ(ReasonOf(empty.error), Reason::kStateNotForModel) << empty.error;
}

TEST_F(EngineStatesTest, ADraftOutOfMemoryIsTriedAgain) {
  test_card_.faults = {{"oom", 1, "fox", 1}};
  Start();
  const std::string state = StateOfDraft();
  ASSERT_TRUE(Run("promoted", PromotionFrom(state)).error.ok());
}

}  // namespace
}  // namespace reel::worker
