// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/front/jobs/admission.h"
#include "server/front/jobs/experiment_board.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

using ::testing::HasSubstr;

std::vector<ExperimentOptions> TwoExperiments() {
  return {{"norms", "ltx", 0.5, {{"old", "auto", 0.75}, {"new", "mine", 0.25}}},
          {"later", "", 0, {{"a", "auto", 0.5}, {"b", "reference", 0.5}}}};
}

model::KernelSelection Chosen(const std::string& key, model::KernelSelection kernels = {}) {
  ChooseArm(TwoExperiments(), "ltx", key, kernels);
  return kernels;
}

std::string ProblemOf(model::KernelSelection kernels, const std::string& model = "ltx") {
  return ChooseArm(TwoExperiments(), model, "key", kernels).problem;
}

TEST(ChooseArm, TakesTheConfiguredShareAndSplitsItByWeight) {
  std::map<std::string, int> counts;
  for (int i = 0; i < 10'000; ++i) ++counts[Chosen(absl::StrCat("request", i)).arm];
  EXPECT_NEAR(counts[""], 5000, 250);
  EXPECT_NEAR(counts["old"], 3750, 220);
  EXPECT_NEAR(counts["new"], 1250, 160);
}

TEST(ChooseArm, GivesTheSameKeyTheSameArmAlways) {
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(Chosen(absl::StrCat(i)), Chosen(absl::StrCat(i)));
  }
  // Also after an update: who was on an arm stays on it.
  EXPECT_EQ(Chosen("request1").arm, "");
  EXPECT_EQ(Chosen("request0").arm, "old");
  EXPECT_EQ(Chosen("request9").arm, "new");
}

TEST(ChooseArm, WritesTheArmsProfile) {
  for (int i = 0; i < 50; ++i) {
    const model::KernelSelection kernels = Chosen(absl::StrCat(i));
    const char* profile = kernels.arm == "new" ? "mine" : kernels.arm == "old" ? "auto" : "";
    EXPECT_EQ(kernels.profile, profile);
    EXPECT_EQ(kernels.experiment, kernels.arm.empty() ? "" : "norms");
  }
}

TEST(ChooseArm, LeavesAloneWhoChoosesKernelsOrOptsOut) {
  model::KernelSelection out, profile, variant;
  out.experiment = "-";
  profile.profile = "reference";
  variant.variants = {{"rms_norm", "loops"}};
  for (const auto& asked : {out, profile, variant}) {
    for (int i = 0; i < 50; ++i) EXPECT_EQ(Chosen(absl::StrCat(i), asked), asked);
  }
}

TEST(ChooseArm, LeavesOtherModelsAlone) {
  for (int i = 0; i < 50; ++i) {
    model::KernelSelection kernels;
    const ArmChoice choice = ChooseArm(TwoExperiments(), "card", absl::StrCat(i), kernels);
    EXPECT_FALSE(choice.drawn);
    EXPECT_EQ(kernels, model::KernelSelection());
  }
}

TEST(ChooseArm, FollowsARequestThatNamesTheExperimentOrItsArm) {
  model::KernelSelection named;
  named.experiment = "later";  // whose share is 0
  std::map<std::string, int> counts;
  for (int i = 0; i < 1000; ++i) ++counts[Chosen(absl::StrCat(i), named).arm];
  EXPECT_NEAR(counts["a"], 500, 80);
  EXPECT_NEAR(counts["b"], 500, 80);
  named.arm = "b";
  const model::KernelSelection chosen = Chosen("x", named);
  EXPECT_EQ(chosen.profile, "reference");
  // A resolved spec can be sent again.
  EXPECT_EQ(Chosen("y", chosen), chosen);
}

TEST(ChooseArm, SaysWhatIsWrong) {
  model::KernelSelection kernels;
  kernels.arm = "b";
  EXPECT_THAT(ProblemOf(kernels), HasSubstr("needs its experiment"));
  kernels.experiment = "nothing";
  EXPECT_THAT(ProblemOf(kernels), HasSubstr("no experiment 'nothing'; configured: norms, later"));
  kernels.experiment = "norms";
  EXPECT_THAT(ProblemOf(kernels), HasSubstr("no arm 'b'; it has old and new"));
  kernels.arm = "old";
  EXPECT_THAT(ProblemOf(kernels, "card"), HasSubstr("of the model ltx alone"));
  kernels.profile = "reference";
  EXPECT_THAT(ProblemOf(kernels), HasSubstr("leave profile and variants empty"));
  model::KernelSelection none;
  none.experiment = "norms";
  EXPECT_THAT(ChooseArm({}, "ltx", "key", none).problem, HasSubstr("none is configured"));
}

// What admission makes of it.
class ArmAdmissionTest : public ::testing::Test {
 protected:
  ArmAdmissionTest() : roster_(options_), admission_(options_, roster_, costs_) {
    roster_.SetServed({"card"});
    request_.tenant = "t";
    request_.spec.prompt = "a fox";
  }
  void AddWorker(bool can_sm90) {
    WorkerInfo info;
    info.name = "w0";
    info.state = WorkerState::kReady;
    info.kernels = {
        {"rms_norm",
         {{"fast", "built-in", true, true, ""}, {"sm90", "built-in", can_sm90, false, "too old"}}}};
    roster_.Update(info);
    roster_.SetCard(TestCard());
    roster_.SetLoaded("w0", TestCard());
  }
  absl::StatusOr<CheckedRequest> Check() { return admission_.CheckRequest(request_, 7); }

  JobOptions options_;
  CostModel costs_;
  WorkerRoster roster_;
  Admission admission_;
  NewJob request_;
};

TEST_F(ArmAdmissionTest, GivesARequestTheArmOfItsExperiment) {
  AddWorker(true);
  request_.spec.kernels.experiment = "norms";
  EXPECT_EQ(ReasonOf(Check().status()), Reason::kUnknownKernel);
  options_.kernel_profiles = {{"mine", "auto", {{"rms_norm", "sm90"}}}};
  options_.experiments = {{"norms", "", 0, {{"old", "reference", 0.5}, {"new", "mine", 0.5}}}};
  request_.spec.kernels.arm = "new";
  const auto checked = Check();
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(checked->spec.kernels.profile, "mine");
  EXPECT_EQ(checked->need.variants.at("rms_norm"), "sm90");
  request_.spec.kernels.arm = "old";
  EXPECT_EQ(Check()->need.shape.plan, "reference");
  EXPECT_TRUE(Check()->need.variants.empty());
}

TEST_F(ArmAdmissionTest, DrawsForWhatWasSentNotForWhatItWasResolvedTo) {
  AddWorker(true);
  options_.experiments = {{"norms", "", 1, {{"a", "reference", 1}, {"b", "auto", 0}}}};
  EXPECT_EQ(Check()->need.shape.plan, "reference");
  request_.spec.kernels.profile = "auto";
  EXPECT_EQ(Check()->spec.kernels.experiment, "");
  EXPECT_EQ(Check()->need.shape.plan, "auto");
}

TEST_F(ArmAdmissionTest, RefusesNobodyForAnArmThatNobodyAskedFor) {
  AddWorker(false);
  options_.kernel_profiles = {{"mine", "auto", {{"rms_norm", "sm90"}}}, {"eighth", "fp8", {}}};
  options_.experiments = {{"norms", "", 1, {{"a", "eighth", 0.5}, {"b", "mine", 0.5}}}};
  for (int i = 0; i < 20; ++i) {
    request_.request_id = std::to_string(i);
    const auto checked = Check();
    ASSERT_TRUE(checked.ok()) << checked.status();
    EXPECT_EQ(checked->spec.kernels.experiment, "");
    EXPECT_EQ(checked->spec.kernels.profile, "auto");
    EXPECT_EQ(checked->need.shape.plan, "auto");
    EXPECT_TRUE(checked->need.variants.empty());
  }
  // Who asks for it hears why.
  request_.spec.kernels.experiment = "norms";
  request_.spec.kernels.arm = "b";
  EXPECT_EQ(ReasonOf(Check().status()), Reason::kKernelUnavailable);
  request_.spec.kernels.arm = "a";
  EXPECT_FALSE(Check().ok());
}

}  // namespace
}  // namespace reel::front
