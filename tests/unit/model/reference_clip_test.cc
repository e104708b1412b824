// SPDX-License-Identifier: Apache-2.0
#include "model/reference_clip.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/pass_work.h"
#include "tests/unit/model/resolve_example.h"

namespace reel::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// With adapters that want a clip: "pose" of the video's size, "depth" of half its sides and a
// quarter of its frames, and "mine" of a tenant alone.
ModelCard ReferenceCard() {
  ModelCard card = ExampleCard();
  card.takes_references = true;
  card.adapters.push_back(
      {.name = "pose", .sha256 = "s", .rank = 16, .reference = ReferenceScale{}});
  card.adapters.push_back(
      {.name = "depth", .sha256 = "s", .rank = 16, .reference = ReferenceScale{2, 4}});
  card.adapters.push_back({.name = "mine",
                           .sha256 = "s",
                           .rank = 16,
                           .tenants = {"acme"},
                           .reference = ReferenceScale{}});
  return card;
}

Condition AReference() {
  Condition clip;
  clip.kind = Condition::Kind::kVideo;
  clip.use = Condition::Use::kReference;
  clip.size_bytes = 10;
  return clip;
}

GenerationSpec ReferenceSpec(const std::string& adapter) {
  GenerationSpec spec;
  spec.prompt = "a fox";
  spec.width = 256;
  spec.height = 128;
  spec.num_frames = 33;
  spec.adapters = {{adapter, {}}};
  spec.conditions = {AReference()};
  return spec;
}

std::vector<FieldViolation> ViolationsWith(const GenerationSpec& spec,
                                           const ModelCard& card = ReferenceCard()) {
  return ResolveExample(spec, card).violations;
}

GenerationSpec ResolvedReference(const GenerationSpec& spec) {
  const Resolution resolved = ResolveExample(spec, ReferenceCard());
  EXPECT_THAT(resolved.violations, IsEmpty());
  return resolved.spec;
}

TEST(ReferenceClip, GoesWithTheAdapterThatWantsIt) {
  for (const char* adapter : {"pose", "depth"}) {
    const GenerationSpec spec = ResolvedReference(ReferenceSpec(adapter));
    EXPECT_DOUBLE_EQ(*spec.conditions[0].strength, 1);
    EXPECT_EQ(ResolvedReference(spec), spec);
  }
  GenerationSpec spec = ReferenceSpec("pose");
  spec.adapters.push_back({"grain", {}});
  EXPECT_THAT(ViolationsWith(spec), IsEmpty()) << "beside adapters that want none";
  spec.conditions[0].strength = 0;
  EXPECT_THAT(ViolationsWith(spec), IsEmpty());
  spec.conditions[0].strength = 1.5;
  EXPECT_THAT(ViolationsWith(spec), ElementsAre(Violation("conditions[0].strength", "nearest: 1")));
}

TEST(ReferenceClip, AloneHasAStrengthOfItsAttention) {
  GenerationSpec spec = ReferenceSpec("pose");
  EXPECT_EQ(ResolvedReference(spec).conditions[0].attention_strength, 1);
  for (const double legal : {0.0, 0.25, 1.0}) {
    spec.conditions[0].attention_strength = legal;
    EXPECT_EQ(ResolvedReference(spec).conditions[0].attention_strength, legal);
  }
  const auto refused = [&](double strength, const char* nearest) {
    spec.conditions[0].attention_strength = strength;
    EXPECT_THAT(ViolationsWith(spec),
                ElementsAre(Violation("conditions[0].attention_strength", nearest)));
  };
  refused(1.5, "nearest: 1");
  refused(-0.5, "nearest: 0");
  refused(std::nan(""), "nearest: 0");
  spec.adapters.clear();
  spec.conditions[0].use = Condition::Use::kFrames;
  refused(0.5, "only a reference clip has one; nearest: leave it out");
  spec.conditions[0].attention_strength.reset();
  EXPECT_EQ(ResolvedReference(spec).conditions[0].attention_strength, std::nullopt);
}

TEST(ReferenceClip, IsRefusedWithoutExactlyOneAdapterThatWantsIt) {
  GenerationSpec spec = ReferenceSpec("grain");
  EXPECT_THAT(ViolationsWith(spec),
              ElementsAre(Violation("conditions[0].use", "name one that does: pose, depth")));
  spec.adapters.clear();
  EXPECT_THAT(ViolationsWith(spec), ElementsAre(Violation("conditions[0].use", "no adapter")));
  EXPECT_THAT(ResolveFor("other", spec, ReferenceCard(), {}, 1).violations[0].description,
              ::testing::Not(::testing::HasSubstr("mine")))
      << "which is another tenant's";
  spec.adapters = {{"pose", 0}};
  EXPECT_THAT(ViolationsWith(spec), ElementsAre(Violation("conditions[0].use", "no adapter")))
      << "0 is the same as leaving it out";
  spec.adapters = {{"pose", {}}, {"depth", {}}};
  EXPECT_THAT(ViolationsWith(spec),
              ElementsAre(Violation("adapters[1].name", "second adapter that wants")));
}

TEST(ReferenceClip, IsWantedByItsAdapterInEachRequest) {
  GenerationSpec spec = ReferenceSpec("pose");
  spec.conditions.clear();
  EXPECT_THAT(ViolationsWith(spec),
              ElementsAre(Violation("adapters[0].name", "CONDITION_USE_REFERENCE")));
  EXPECT_EQ(ViolationsWith(spec)[0].reason, "ADAPTER_WANTS_REFERENCE");
  spec.adapters = {{"grain", {}}, {"depth", {}}};
  EXPECT_THAT(ViolationsWith(spec),
              ElementsAre(Violation("adapters[1].name", "'depth' wants a reference clip")));
  spec.conditions = {Condition{}};
  spec.conditions[0].size_bytes = 1;
  EXPECT_THAT(ViolationsWith(spec), SizeIs(1)) << "a picture is none";
}

TEST(ReferenceClip, OfATenantsAdapterIsToldToOthersAsOfAnUnknownOne) {
  const GenerationSpec spec = ReferenceSpec("mine");
  EXPECT_THAT(ResolveFor("acme", spec, ReferenceCard(), {}, 1).violations, IsEmpty());
  std::vector<FieldViolation> of_other =
      ResolveFor("other", spec, ReferenceCard(), {}, 1).violations;
  EXPECT_THAT(of_other,
              ElementsAre(Violation("conditions[0].use", "name one that does: pose, depth"),
                          Violation("adapters[0].name", "no adapter of this model")));
}

TEST(ReferenceClip, IsAClipFromTheVideosBeginAndTheOnlyOne) {
  GenerationSpec spec = ReferenceSpec("pose");
  spec.conditions[0].kind = Condition::Kind::kImage;
  EXPECT_THAT(ViolationsWith(spec),
              ElementsAre(Violation("conditions[0].image", "nearest: a video")));
  spec.conditions[0] = AReference();
  spec.conditions[0].frame_index = 8;
  EXPECT_THAT(ViolationsWith(spec),
              ElementsAre(Violation("conditions[0].frame_index", "nearest: 0")));
  spec.conditions = {AReference(), AReference()};
  EXPECT_THAT(ViolationsWith(spec),
              ElementsAre(Violation("conditions[1].use", "second reference")));
}

TEST(ReferenceClip, IsRefusedByNameByModelsThatTakeNone) {
  ModelCard card = ReferenceCard();
  card.takes_references = false;
  EXPECT_THAT(ViolationsWith(ReferenceSpec("pose"), card),
              ElementsAre(Violation("conditions[0].use", "this model takes no reference clips"),
                          Violation("adapters[0].name", "which this model does not take")));
}

TEST(ReferenceClip, IsNotBesideLatentsThatAreHeld) {
  GenerationSpec spec = ReferenceSpec("pose");
  spec.conditions.clear();
  spec.source = Source{.video = "videos/x",
                       .begin = Source::Begin::kRetake,
                       .state_sha256 = std::string(64, 'a'),
                       .retake = {.begin = 0, .end = 1}};
  EXPECT_THAT(ViolationsWith(spec),
              ElementsAre(Violation("adapters[0].name", "source.retake holds latents")));
  EXPECT_THAT(ViolationsWith(spec), ElementsAre(Violation("adapters[0].name", "nearest: scale 0")));
  spec.adapters[0].scale = 0;
  EXPECT_THAT(ViolationsWith(spec), IsEmpty());
}

TEST(ReferenceClip, HasSidesInWholeLatentsInEveryPass) {
  GenerationSpec spec = ReferenceSpec("depth");
  spec.width = 224;  // 7 latents
  EXPECT_THAT(ViolationsWith(spec), ElementsAre(Violation("width", "224 is not a multiple of 64")));
  EXPECT_THAT(ViolationsWith(spec),
              ElementsAre(Violation("width", "reference clip has 1/2 of it")));
  spec.adapters = {{"pose", {}}};
  EXPECT_THAT(ViolationsWith(spec), IsEmpty());
}

TEST(ReferenceClip, TakesTheFirstFrameAndThenOneOfSoManyInWholeLatents) {
  EXPECT_EQ(ReferenceFrames(1, {1, 1}, 8), 1);
  EXPECT_EQ(ReferenceFrames(121, {1, 1}, 8), 121);
  EXPECT_EQ(ReferenceFrames(121, {2, 1}, 8), 121);
  EXPECT_EQ(ReferenceFrames(33, {1, 4}, 8), 9);
  EXPECT_EQ(ReferenceFrames(121, {1, 4}, 8), 25) << "0, 1, 5 .. 93, of 31";
  EXPECT_EQ(ReferenceFrames(129, {1, 4}, 8), 33);
  EXPECT_EQ(ReferenceFrames(17, {1, 4}, 8), 1);
  EXPECT_EQ(ReferenceFrames(9, {1, 8}, 8), 1);
  EXPECT_EQ(ReferenceSize({1280, 704}, {2, 1}), (FileSize{640, 352}));
}

TEST(ReferenceClip, CountsForTheTokensOfEachPass) {
  const ModelCard card = ReferenceCard();
  const int64_t tokens = int64_t{5} * 8 * 4;
  EXPECT_EQ(PassesOf(ResolvedReference(ReferenceSpec("pose")), card)[0].tokens, 2 * tokens);
  EXPECT_EQ(PassesOf(ResolvedReference(ReferenceSpec("depth")), card)[0].tokens,
            tokens + 2 * 4 * 2);
  GenerationSpec spec = ReferenceSpec("pose");
  spec.preset = "twice";
  spec.width = 192;
  spec.height = 96;
  const std::vector<PassWork> passes = PassesOf(ResolvedReference(spec), card);
  EXPECT_EQ(passes[0].tokens, 2 * 5 * 4 * 2);
  EXPECT_EQ(passes[1].tokens, 2 * 5 * 8 * 4);
  // As a worker has it: without the card's offers.
  spec = ReferenceSpec("depth");
  spec.adapters[0].path = "/loras/depth";
  spec.adapters[0].reference = ReferenceScale{2, 4};
  EXPECT_EQ(PassesOf(spec, ExampleCard())[0].tokens, tokens + 2 * 4 * 2);
}

TEST(ReferenceClip, CountsForTheMostTokensOfAVideo) {
  GenerationSpec spec = ReferenceSpec("pose");
  spec.width = 1280;
  spec.height = 704;
  spec.num_frames = 257;  // 33 latent frames of 880
  EXPECT_THAT(ViolationsWith(spec),
              ElementsAre(Violation("num_frames", "are 58080 latent tokens")));
  EXPECT_THAT(ViolationsWith(spec), ElementsAre(Violation("num_frames", "nearest: 137")));
  spec.num_frames = 137;
  EXPECT_THAT(ViolationsWith(spec), IsEmpty());
}

TEST(ReferenceClip, TellsWhatIsCutAndWhereItEnds) {
  GenerationSpec spec = ResolvedReference(ReferenceSpec("depth"));
  EXPECT_THAT(ReferenceNotices(spec, 8), IsEmpty()) << "not decoded yet";
  spec.adapters[0].reference = ReferenceScale{2, 4};
  auto pixels = std::make_shared<ConditionPixels>();
  pixels->num_frames = 9;
  spec.conditions[0].pixels = pixels;
  EXPECT_THAT(ReferenceNotices(spec, 8), IsEmpty());
  pixels->num_frames = 7;
  ASSERT_THAT(ReferenceNotices(spec, 8), SizeIs(1));
  EXPECT_EQ(ReferenceNotices(spec, 8)[0].code, "REFERENCE_CLIP_ENDS_EARLY");
  EXPECT_THAT(ReferenceNotices(spec, 8)[0].message,
              ::testing::HasSubstr("ends after 1.04 s, the video after 1.38 s"));
  pixels->is_cut = true;
  EXPECT_EQ(ReferenceNotices(spec, 8)[0].code, "REFERENCE_CLIP_CUT");
}

}  // namespace
}  // namespace reel::model
