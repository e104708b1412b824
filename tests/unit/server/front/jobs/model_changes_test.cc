// SPDX-License-Identifier: Apache-2.0
// Models that come and go, as callers and workers see it.
#include "server/front/jobs/model_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "server/errors/error.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

class ModelChangesTest : public ::testing::Test, public Harness {
 protected:
  void StartAll() {
    Start();
    AddWorker();
  }
  absl::StatusOr<ServedModel> LoadModel(const std::string& model) {
    return Await<ServedModel>([&](auto done) { dispatcher->LoadModel(model, std::move(done)); });
  }
  absl::StatusOr<ServedModel> UnloadModel(const std::string& model) {
    return Await<ServedModel>([&](auto done) { dispatcher->UnloadModel(model, std::move(done)); });
  }
  ServedModel Shown(const std::string& model = "card") {
    dispatcher->Flush();
    for (ServedModel& served : dispatcher->Models()) {
      if (served.card.name == model) return std::move(served);
    }
    return {};
  }
  void Answer(int64_t revision, const absl::Status& error = absl::OkStatus()) {
    if (error.ok()) {
      dispatcher->Report({"w0", {}, ModelLoaded{"card", TestCard(), revision}});
    } else {
      dispatcher->Report({"w0", {}, ModelFailed{"card", error, revision}});
    }
  }
};

TEST_F(ModelChangesTest, ModelsThatNeverLoadedAreListedWithWhy) {
  StartAll();
  EXPECT_EQ(Shown("card").state, ModelState::kReady);
  EXPECT_TRUE(Shown("card").has_card);
  EXPECT_EQ(Shown("late").state, ModelState::kLoading);
  EXPECT_FALSE(Shown("late").has_card);
  dispatcher->Report({"w0", {}, ModelFailed{"late", absl::NotFoundError("no weights"), 0}});
  EXPECT_EQ(Shown("late").state, ModelState::kFailed);
  EXPECT_EQ(Shown("late").problem, "no weights");
}

TEST_F(ModelChangesTest, AReplacementIsSentAndTheOldOneServesMeanwhile) {
  StartAll();
  const auto begun = LoadModel("card");
  ASSERT_TRUE(begun.ok()) << begun.status();
  EXPECT_EQ(begun->state, ModelState::kReplacing);
  ASSERT_EQ(pool.loads().size(), 1u);
  EXPECT_EQ(pool.loads()[0].model, "card");
  const JobPtr job = MustCreate(Request());
  RunToEnd(Take());
  EXPECT_EQ(WaitForEnd(*job).state, VideoState::kSucceeded);
  Answer(pool.loads()[0].revision, absl::DataLossError("NaN"));
  EXPECT_EQ(Shown().state, ModelState::kReady) << "the old one serves on";
  EXPECT_EQ(Shown().problem, "NaN");
  ASSERT_TRUE(LoadModel("card").ok());
  EXPECT_EQ(Shown().problem, "");
  Answer(pool.loads()[1].revision);
  EXPECT_EQ(Shown().state, ModelState::kReady);
}

TEST_F(ModelChangesTest, AWorkerThatBeginsAgainWithTheOldOneHidesNoProblem) {
  StartAll();
  ASSERT_TRUE(LoadModel("card").ok());
  Answer(pool.loads()[0].revision, absl::UnavailableError("lost"));
  Answer(0);
  EXPECT_EQ(Shown().problem, "lost");
}

TEST_F(ModelChangesTest, AnswersToEarlierLoadsSayNothing) {
  StartAll();
  ASSERT_TRUE(LoadModel("card").ok());
  ASSERT_TRUE(LoadModel("card").ok());
  Answer(pool.loads()[0].revision, absl::DataLossError("NaN"));
  EXPECT_EQ(Shown().problem, "");
  EXPECT_EQ(Shown().state, ModelState::kReplacing);
  ASSERT_TRUE(UnloadModel("card").ok());
  Answer(pool.loads()[1].revision);
  EXPECT_EQ(Shown().state, ModelState::kUnloaded);
  EXPECT_FALSE(Shown().ready);
}

TEST_F(ModelChangesTest, WhatWaitsForAnUnloadedModelEndsAndWhatRunsGoesOn) {
  StartAll();
  std::vector<JobPtr> jobs;
  for (int i = 0; i < 3; ++i) jobs.push_back(MustCreate(Request()));
  const Sent first = Take(), second = Take();
  const auto unloaded = UnloadModel("card");
  ASSERT_TRUE(unloaded.ok());
  EXPECT_EQ(unloaded->state, ModelState::kUnloaded);
  ASSERT_EQ(pool.unloads().size(), 1u);
  const Video end = WaitForState(*jobs[2], VideoState::kFailed);
  EXPECT_EQ(ReasonOf(end.error), Reason::kModelUnloaded) << end.error;
  EXPECT_EQ(ReasonOf(Create(Request()).status()), Reason::kModelUnloaded);
  RunToEnd(first);
  RunToEnd(second);
  EXPECT_EQ(WaitForEnd(*jobs[0]).state, VideoState::kSucceeded);
  EXPECT_EQ(WaitForEnd(*jobs[1]).state, VideoState::kSucceeded);
}

TEST_F(ModelChangesTest, AnUnloadedModelComesBackByALoad) {
  StartAll();
  ASSERT_TRUE(UnloadModel("card").ok());
  const auto begun = LoadModel("card");
  ASSERT_TRUE(begun.ok());
  EXPECT_EQ(begun->state, ModelState::kLoading);
  Answer(pool.loads().at(0).revision);
  EXPECT_EQ(Shown().state, ModelState::kReady);
  EXPECT_TRUE(Create(Request()).ok());
}

TEST_F(ModelChangesTest, OnlyModelsOfTheConfigurationCanBeLoaded) {
  StartAll();
  EXPECT_EQ(ReasonOf(LoadModel("other").status()), Reason::kModelNotFound);
  EXPECT_EQ(ReasonOf(UnloadModel("other").status()), Reason::kModelNotFound);
  EXPECT_TRUE(pool.loads().empty());
}

TEST_F(ModelChangesTest, AConfigurationLoadsWhatIsNewOrDifferentAndNothingElse) {
  StartAll();
  dispatcher->SetModels({SourceOf("fresh"), SourceOf("card", "/elsewhere")});
  EXPECT_EQ(Shown("fresh").state, ModelState::kLoading);
  EXPECT_TRUE(Shown("fresh").is_default);
  EXPECT_EQ(Shown("card").state, ModelState::kReplacing);
  ASSERT_EQ(pool.loads().size(), 2u);
  ASSERT_EQ(pool.unloads().size(), 1u);
  EXPECT_EQ(pool.unloads()[0].model, "late");
  NewJob late = Request();
  late.spec.model = "late";
  EXPECT_EQ(ReasonOf(Create(late).status()), Reason::kModelNotFound);
  dispatcher->SetModels({SourceOf("fresh"), SourceOf("card", "/elsewhere")});
  dispatcher->Flush();
  EXPECT_EQ(pool.loads().size(), 2u) << "nothing has changed";
}

TEST_F(ModelChangesTest, WhatACallHasUnloadedAConfigurationThatIsTheSameDoesNotBringBack) {
  StartAll();
  ASSERT_TRUE(UnloadModel("card").ok());
  dispatcher->SetModels({SourceOf("card"), SourceOf("late")});
  EXPECT_EQ(Shown("card").state, ModelState::kUnloaded);
  EXPECT_TRUE(pool.loads().empty());
}

}  // namespace
}  // namespace reel::front
