// SPDX-License-Identifier: Apache-2.0
// Errors about conditions name the fields of the OpenAI facade that these were sent in.
#include "server/front/http/facade_conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "server/errors/error.h"
#include "server/front/http/door_error.h"

namespace reel::front {
namespace {

using nlohmann::json;

const ConditionFields kLoneClip = {"reference_video"},
                      kBoth = {"input_reference", "reference_video"};

json BodyOf(const absl::Status& error, const ConditionFields& fields) {
  return json::parse(FacadeErrorBody(AsSent(error, fields)))["error"];
}

absl::Status About(const std::string& field) {
  return MakeInvalid(Reason::kInvalidSpec, {{field, "is wrong"}});
}

TEST(FacadeConditions, AreNamedByTheirUse) {
  v1::VideoSpec spec;
  EXPECT_EQ(FieldsOf(spec), ConditionFields());
  spec.add_conditions()->set_use(v1::CONDITION_USE_REFERENCE);
  EXPECT_EQ(FieldsOf(spec), kLoneClip);
  *spec.mutable_conditions()->Add() = spec.conditions(0);
  spec.mutable_conditions(0)->clear_use();
  EXPECT_EQ(FieldsOf(spec), kBoth);
  model::GenerationSpec resolved;
  resolved.conditions.resize(2);
  resolved.conditions[1].use = model::Condition::Use::kReference;
  EXPECT_EQ(FieldsOf(resolved), kBoth);
}

TEST(FacadeConditions, ALoneClipsErrorsNameIt) {
  for (const char* field : {"spec.conditions[0].video", "spec.conditions[0].file",
                            "spec.conditions[0].size_bytes", "spec.conditions[0]"}) {
    const json error = BodyOf(About(field), kLoneClip);
    EXPECT_EQ(error["param"], "reference_video") << error;
    EXPECT_EQ(error["message"], "The request breaks 1 rule: reference_video: is wrong");
    EXPECT_THAT(error.dump(), ::testing::Not(::testing::HasSubstr("conditions[")));
  }
}

TEST(FacadeConditions, APictureAndAClipAreToldApart) {
  EXPECT_EQ(BodyOf(About("spec.conditions[0].frame_index"), kBoth)["param"], "input_reference");
  EXPECT_EQ(BodyOf(About("spec.conditions[1].file"), kBoth)["param"], "reference_video");
}

TEST(FacadeConditions, OfAModelThatTakesNoneTheFirstIsNamed) {
  EXPECT_EQ(BodyOf(About("spec.conditions"), {"input_reference"})["param"], "input_reference");
  EXPECT_EQ(BodyOf(About("spec.conditions"), kBoth)["param"], "input_reference");
  EXPECT_EQ(BodyOf(About("spec.conditions"), kLoneClip)["param"], "reference_video");
}

TEST(FacadeConditions, AWorkersMessageNamesThemToo) {
  const absl::Status error = MakeError(
      Reason::kInvalidSpec, "A condition cannot be used: conditions[0] is broken. It ends early");
  EXPECT_EQ(BodyOf(error, kLoneClip)["message"],
            "A condition cannot be used: reference_video is broken. It ends early");
  EXPECT_EQ(BodyOf(error, {})["message"], std::string(error.message()));
}

TEST(FacadeConditions, AreNamedWhereverTheyStandInAText) {
  const auto named = [](const std::string& text) {
    return std::string(AsSent(absl::InternalError(text), kBoth).message());
  };
  EXPECT_EQ(named("conditions[0] and spec.conditions[1].file. Then conditions"),
            "input_reference and reference_video. Then conditions");
  EXPECT_EQ(named("conditions[0].spec.conditions[1]"), "input_reference.reference_video");
  EXPECT_EQ(named("conditions[1].conditions[0]"), "reference_video[0]");
  EXPECT_EQ(named("spec.conditions[x] spec.conditions_2"), "spec.conditions[x] spec.conditions_2");
}

TEST(FacadeConditions, OtherFieldsAndReasonsStayAsTheyAre) {
  const json error = BodyOf(About("spec.frame_rate"), kBoth);
  EXPECT_EQ(error["param"], "fps");
  EXPECT_EQ(error["code"], "INVALID_SPEC");
  EXPECT_EQ(BodyOf(About("spec.conditions[10].file"), kBoth)["param"], "conditions");
  const absl::Status bare = absl::InternalError("conditions[0]");
  EXPECT_EQ(AsSent(bare, kLoneClip).message(), "reference_video");
  EXPECT_TRUE(AsSent(absl::OkStatus(), kLoneClip).ok());
}

}  // namespace
}  // namespace reel::front
