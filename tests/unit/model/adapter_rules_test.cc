// SPDX-License-Identifier: Apache-2.0
#include "model/adapter_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/model/example_card.h"
#include "tests/unit/model/resolve_example.h"

namespace reel::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

auto Asking(std::vector<RequestAdapter> adapters) {
  return With([&](GenerationSpec& spec) { spec.adapters = std::move(adapters); });
}

TEST(RequestAdapters, AreResolvedToTheirFilesAndScalesInOrderOfNames) {
  GenerationSpec sent;
  sent.prompt = "a fox";
  sent.adapters = {{"secret", -0.5}, {"grain", {}}};
  const Resolution resolved = ResolveExample(sent);
  ASSERT_THAT(resolved.violations, IsEmpty());
  EXPECT_THAT(resolved.spec.adapters,
              ElementsAre(RequestAdapter{"grain", 1, std::string(64, 'a')},
                          RequestAdapter{"secret", -0.5, std::string(64, 'c')}));
  EXPECT_EQ(ResolveExample(resolved.spec).spec, resolved.spec);
}

TEST(RequestAdapters, HaveTheScaleOfTheirRegistrationUnlessTheySayAnother) {
  ModelCard card = ExampleCard();
  card.adapters[0].default_scale = 0.6;
  GenerationSpec sent;
  sent.prompt = "a fox";
  sent.adapters = {{"grain", {}}};
  EXPECT_EQ(ResolveExample(sent, card).spec.adapters[0].scale, 0.6);
  sent.adapters = {{"grain", 1}};
  EXPECT_EQ(ResolveExample(sent, card).spec.adapters[0].scale, 1);
}

TEST(RequestAdapters, OfScaleZeroAreLeftOut) {
  GenerationSpec sent;
  sent.prompt = "a fox";
  sent.adapters = {{"turn", 0}, {"grain", 1}, {"secret", 1}};
  const Resolution resolved = ResolveExample(sent);
  EXPECT_THAT(resolved.violations, IsEmpty());
  EXPECT_THAT(resolved.spec.adapters, SizeIs(2));
}

TEST(RequestAdapters, OfUnknownNamesAreRefusedWithTheNearest) {
  EXPECT_THAT(Asking({{"grian", {}}}),
              ElementsAre(Violation("adapters[0].name", "nearest: grain")));
  EXPECT_THAT(Asking({{"grain", {}}, {"../../etc/passwd", {}}}),
              ElementsAre(Violation("adapters[1].name", "no adapter of this model")));
}

TEST(RequestAdapters, OfOtherModelsAreRefusedAsSuchAndThoseOfOtherTenantsAsUnknown) {
  EXPECT_THAT(Asking({{"elsewhere", {}}}),
              ElementsAre(Violation("adapters[0].name", "'elsewhere' is not for this model")));
  GenerationSpec sent;
  sent.prompt = "a fox";
  sent.adapters = {{"elsewhere", {}}};
  ModelCard card = ExampleCard();
  card.adapters_of_others[0].tenants = {"acme"};
  EXPECT_EQ(ResolveFor("acme", sent, card, {}, 1).violations[0].reason, "ADAPTER_NOT_FOR_MODEL");
  EXPECT_EQ(ResolveFor("other", sent, card, {}, 1).violations[0].reason, "ADAPTER_UNKNOWN");
  card.adapters.clear();
  EXPECT_THAT(ResolveFor("acme", sent, card, {}, 1).violations,
              ElementsAre(Violation("adapters[0].name", "takes no adapters")));
}

TEST(RequestAdapters, OfAModelWithoutAnyAreRefused) {
  ModelCard card = ExampleCard();
  card.adapters.clear();
  GenerationSpec sent;
  sent.prompt = "a fox";
  sent.adapters = {{"grain", {}}};
  EXPECT_THAT(Resolve(sent, card, {}, 0).violations,
              ElementsAre(Violation("adapters[0].name", "takes no adapters")));
}

TEST(RequestAdapters, HaveScalesWithinTheirOwnBound) {
  EXPECT_THAT(Asking({{"grain", 1.5}, {"secret", -4}}), IsEmpty());
  EXPECT_THAT(Asking({{"grain", -1.6}}), ElementsAre(Violation("adapters[0].scale", "-1.5")));
  EXPECT_THAT(Asking({{"secret", std::numeric_limits<double>::quiet_NaN()}}),
              ElementsAre(Violation("adapters[0].scale", "4")));
  EXPECT_THAT(Asking({{"secret", 1e308}}), ElementsAre(Violation("adapters[0].scale", "4")));
}

TEST(RequestAdapters, MayNameTheFileThatTheyMean) {
  EXPECT_THAT(Asking({{"grain", 1, std::string(64, 'a')}}), IsEmpty());
  EXPECT_THAT(Asking({{"grain", 1, std::string(64, 'b')}}),
              ElementsAre(Violation("adapters[0].sha256", std::string(64, 'a'))));
}

TEST(RequestAdapters, AreNamedOnceAndFewAndOfFewRanks) {
  EXPECT_THAT(Asking({{"grain", 1}, {"grain", 0.5}}),
              ElementsAre(Violation("adapters[1].name", "twice")));
  EXPECT_THAT(Asking(std::vector<RequestAdapter>(9, {"grain", 1})),
              ElementsAre(Violation("adapters", "8")));
  EXPECT_THAT(Asking({{"turn", 1}, {"secret", 1}}),  // 33 take 64, 8 take 32
              ElementsAre(Violation("adapters", "96 together")));
}

RequestAdapter Scaled(const std::string& name, std::optional<double> scale,
                      std::map<std::string, double> parts, std::vector<double> passes = {}) {
  return {.name = name,
          .scale = scale,
          .part_scales = std::move(parts),
          .pass_scales = std::move(passes)};
}

ModelCard CardWithSound() {
  ModelCard card = ExampleCard();
  card.sound = {48000, 2};
  return card;
}

TEST(RequestAdapters, HaveScalesOfTheModelsPartsAlone) {
  const RequestAdapter sound = Scaled("turn", 1, {{"audio", 0.5}});
  EXPECT_THAT(Asking({Scaled("turn", 1, {{"video", 0.5}})}), IsEmpty());
  EXPECT_THAT(Asking({sound}),
              ElementsAre(Violation("adapters[0].part_scales",
                                    "'audio' is no part of this model; nearest: video")));
  GenerationSpec sent;
  sent.prompt = "a fox";
  sent.adapters = {sound};
  EXPECT_THAT(ResolveExample(sent, CardWithSound()).violations, IsEmpty());
  sent.adapters = {Scaled("turn", 1, {{"sound", 0.5}, {"voice", 0.5}})};
  EXPECT_THAT(ResolveExample(sent, CardWithSound()).violations,
              ElementsAre(Violation("adapters[0].part_scales",
                                    "'sound' is no part of this model; nearest: video, audio, "
                                    "video_to_audio, audio_to_video, connectors")));
}

TEST(RequestAdapters, HaveAScaleForEachPassOfThePresetAtMost) {
  const auto twice = [](std::vector<double> passes) {
    return With([&](GenerationSpec& spec) {
      spec.preset = "twice";
      spec.adapters = {Scaled("turn", 1, {}, std::move(passes))};
    });
  };
  EXPECT_THAT(twice({1, 0.5}), IsEmpty());
  EXPECT_THAT(twice({1, 0.5, 0}), ElementsAre(Violation("adapters[0].pass_scales", "nearest: 2")));
  EXPECT_THAT(Asking({Scaled("turn", 1, {}, {1, 0})}),
              ElementsAre(Violation("adapters[0].pass_scales", "nearest: 1")));
}

TEST(RequestAdapters, AreWithinTheirBoundInEveryPartAndPass) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(Asking({Scaled("grain", 0.5, {{"video", -3}}, {0.5})}), IsEmpty());
  EXPECT_THAT(Asking({Scaled("grain", 0.5, {{"video", 3.1}})}),
              ElementsAre(Violation("adapters[0].part_scales[video]", "nearest: 3")));
  EXPECT_THAT(Asking({Scaled("grain", 0.5, {{"video", 2}}, {-1.6})}),
              ElementsAre(Violation("adapters[0].pass_scales[0]", "nearest: -1.5")));
  EXPECT_THAT(Asking({Scaled("grain", 1, {{"video", nan}})}),
              ElementsAre(Violation("adapters[0].part_scales[video]", "NaN")));
  EXPECT_THAT(Asking({Scaled("grain", 0, {}, {nan})}),
              ElementsAre(Violation("adapters[0].pass_scales[0]", "NaN")));
}

// So that requests and states that say the same are equal.
TEST(RequestAdapters, AreResolvedToTheFewestScalesThatSayTheSame) {
  const auto resolved = [](RequestAdapter adapter) {
    GenerationSpec sent;
    sent.prompt = "a fox";
    sent.preset = "twice";
    sent.adapters = {std::move(adapter)};
    const Resolution made = ResolveExample(sent);
    EXPECT_THAT(made.violations, IsEmpty());
    EXPECT_EQ(ResolveExample(made.spec).spec, made.spec);
    return made.spec.adapters;
  };
  EXPECT_EQ(resolved(Scaled("grain", 1, {{"video", 1}}, {1, 1})), resolved({"grain", 1}));
  EXPECT_EQ(resolved(Scaled("grain", 1, {}, {0.5, 0.5})), resolved(Scaled("grain", 1, {}, {0.5})));
  EXPECT_THAT(resolved(Scaled("grain", 1, {}, {0, 0})), IsEmpty());
  EXPECT_THAT(resolved(Scaled("grain", 1, {}, {0, 1})), SizeIs(1));
}

TEST(RequestAdapters, AreRefusedForReasonsThatProgramsKnow) {
  const auto reasons = [](std::vector<RequestAdapter> adapters) {
    std::vector<std::string> all;
    for (const FieldViolation& violation : Asking(std::move(adapters))) {
      all.push_back(violation.reason);
    }
    return all;
  };
  EXPECT_THAT(reasons({{"grian", {}}}), ElementsAre("ADAPTER_UNKNOWN"));
  EXPECT_THAT(reasons({{"elsewhere", 1}}), ElementsAre("ADAPTER_NOT_FOR_MODEL"));
  EXPECT_THAT(reasons({{"grain", 9}}), ElementsAre("ADAPTER_SCALE"));
  EXPECT_THAT(reasons({Scaled("grain", 1, {{"audio", 1}})}), ElementsAre("ADAPTER_SCALE"));
  EXPECT_THAT(reasons({Scaled("grain", 1, {}, {1, 0.5})}), ElementsAre("ADAPTER_SCALE"));
  EXPECT_THAT(reasons({{"grain", 1}, {"grain", 1}}), ElementsAre("ADAPTER_TWICE"));
  EXPECT_THAT(reasons({{"turn", 1}, {"secret", 1}}), ElementsAre("ADAPTER_RANKS"));
  EXPECT_THAT(reasons({{"grain", 1, "b"}}), ElementsAre("ADAPTER_CHANGED"));
}

// As a worker does with what the front resolved, and a command line that names files.
TEST(RequestAdapters, WithAPathAreNotLookedUpAgain) {
  GenerationSpec sent;
  sent.prompt = "a fox";
  sent.adapters = {{"b.safetensors", 0.5, "", "/files/b"}, {"a.safetensors", {}, "", "/files/a"}};
  ModelCard card = ExampleCard();
  card.adapters.clear();
  const Resolution resolved = Resolve(sent, card, {}, 0);
  EXPECT_THAT(resolved.violations, IsEmpty());
  EXPECT_EQ(resolved.spec.adapters[1].path, "/files/b");
  EXPECT_EQ(Resolve(resolved.spec, card, {}, 0).spec, resolved.spec);
  sent.adapters[0].scale = 4.5;
  EXPECT_THAT(Resolve(sent, card, {}, 0).violations,
              ElementsAre(Violation("adapters[0].scale", "4")));
}

// What a tenant may not use answers as if it were not there.
TEST(RequestAdapters, OfOtherTenantsAreUnknown) {
  GenerationSpec sent;
  sent.prompt = "a fox";
  sent.adapters = {{"secret", {}}};
  const ModelCard card = ExampleCard();
  EXPECT_THAT(ResolveFor("acme", sent, card, {}, 0).violations, IsEmpty());
  const auto refused = ResolveFor("other", sent, card, {}, 0).violations;
  ModelCard without = card;
  without.adapters.pop_back();
  const auto unknown = Resolve(sent, without, {}, 0).violations;
  ASSERT_THAT(refused, SizeIs(1));
  EXPECT_EQ(refused[0].description, unknown[0].description);
  EXPECT_THAT(refused, ElementsAre(Violation("adapters[0].name", "no adapter of this model")));
}

}  // namespace
}  // namespace reel::model
