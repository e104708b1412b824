// SPDX-License-Identifier: Apache-2.0
// Models on demand come for those that want them, and make way for each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "server/front/scheduling/plan.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Models of 1,000 bytes; a job takes 256 beside.
constexpr int64_t kWeights = 1000, kJob = 256;

model::ModelCard CardOf(const std::string& name) {
  model::ModelCard card = TestCard(name);
  card.weight_bytes = kWeights;
  card.memory.token = 1;
  return card;
}

class WhoMakesWayTest : public ::testing::Test {
 protected:
  WhoMakesWayTest() {
    for (const char* name : {"a", "b", "c", "new"}) cards_[name] = CardOf(name);
    worker_.info.memory.total = 4000;
    worker_.loaded = worker_.known = {"a", "b", "c"};
    worker_.used = {{"a", 2}, {"b", 1}, {"c", 3}};
    need_.model = "new";
    need_.memory_bytes = kJob;
  }
  auto Who(const std::set<std::string>& wanted = {}) {
    return WhoMakesWay(worker_, need_, wanted, cards_);
  }
  PlannedWorker worker_;
  Need need_;
  Cards cards_;
};

TEST_F(WhoMakesWayTest, TheOneUsedLongestAgoAndNoMoreThanItTakes) {
  EXPECT_THAT(*Who(), ElementsAre("b"));
  need_.memory_bytes = 1000;
  EXPECT_THAT(*Who(), ElementsAre("b", "a"));
  worker_.info.memory.total = 6000;
  EXPECT_THAT(*Who(), IsEmpty());
  worker_.info.memory.total = 0;
  EXPECT_THAT(*Who(), IsEmpty()) << "no account is kept";
}

TEST_F(WhoMakesWayTest, NoneThatHasJobsOrIsPinnedOrWanted) {
  worker_.held["job"].shape.model = "b";
  EXPECT_THAT(*Who(), ElementsAre("a"));
  worker_.known.erase("a");
  EXPECT_THAT(*Who(), ElementsAre("c"));
  EXPECT_FALSE(Who({"c"}).has_value());
}

class ResidencyTest : public ::testing::Test, public Harness {
 protected:
  void SetUp() override {
    options.models = {SourceOf("pinned"), SourceOf("a"), SourceOf("b"), SourceOf("c")};
    for (ModelSource& source : options.models) source.load.on_demand = source.load.name != "pinned";
    Start();
    Add("w0", 3 * kWeights + 2 * kJob);
  }
  // With so much beside the margin; it has the model that is pinned and knows the others.
  void Add(const std::string& name, int64_t usable) {
    WorkerInfo info = ReadyWorker(name);
    info.memory.total = usable * 20 / 19 + 1;
    dispatcher->WorkerChanged(info);
    Load(name, CardOf("pinned"));
    for (const char* model : {"a", "b", "c"}) {
      dispatcher->Report({name, {}, ModelKnown{model, CardOf(model)}});
    }
    Settle();
  }
  NewJob For(const std::string& model) {
    NewJob request = Request(model);
    request.spec.model = model;
    return request;
  }
  // The latest load, done.
  void Loaded() {
    const auto sent = pool.loads().back();
    dispatcher->Report(
        {sent.worker, {}, ModelLoaded{sent.model, CardOf(sent.model), sent.revision}});
    Settle();
  }
  void Render(const std::string& model) {
    MustCreate(For(model));
    Settle();
    if (Shown(model) != ModelState::kReady) Loaded();
    RunToEnd(Take());
    Settle();
  }
  ModelState Shown(const std::string& model) {
    for (const ServedModel& served : dispatcher->Models()) {
      if (served.card.name == model) return served.state;
    }
    return ModelState::kUnloaded;
  }
  CostEstimate EstimateOf(const std::string& model) {
    return *Await<CostEstimate>(
        [&](auto done) { dispatcher->Estimate(For(model), std::move(done)); });
  }
  std::vector<std::string> PutOut() {
    std::vector<std::string> models;
    for (const auto& command : pool.put_out()) models.push_back(command.model);
    return models;
  }
};

TEST_F(ResidencyTest, ARequestLoadsItsModelAndWaitsForIt) {
  EXPECT_EQ(Shown("a"), ModelState::kOnDemand);
  EXPECT_THAT(pool.loads(), IsEmpty());
  MustCreate(For("a"));
  MustCreate(For("a"));
  Settle();
  ASSERT_EQ(pool.loads().size(), 1u);
  EXPECT_EQ(pool.loads()[0].model, "a");
  EXPECT_EQ(Shown("a"), ModelState::kLoading);
  EXPECT_EQ(pool.num_waiting(), 0);
  MustCreate(For("pinned"));
  EXPECT_EQ(Take().assignment.spec.model, "pinned") << "another model's job need not wait";
  Loaded();
  EXPECT_EQ(Take().assignment.spec.model, "a");
  EXPECT_EQ(Shown("a"), ModelState::kReady);
}

TEST_F(ResidencyTest, TheOneUsedLongestAgoMakesWayAndComesAgain) {
  Render("a");
  Render("b");
  EXPECT_THAT(PutOut(), IsEmpty());
  Render("c");
  EXPECT_THAT(PutOut(), ElementsAre("a"));
  EXPECT_EQ(Shown("a"), ModelState::kOnDemand);
  Render("b");
  Render("a");
  EXPECT_THAT(PutOut(), ElementsAre("a", "c"));
  EXPECT_EQ(Shown("pinned"), ModelState::kReady);
}

TEST_F(ResidencyTest, OneWithJobsStaysAndNobodyIsGivenMoreUntilTheyAreDone) {
  Render("a");
  MustCreate(For("a"));
  const Sent a = Take();
  Render("b");
  MustCreate(For("b"));
  const Sent b = Take();
  MustCreate(For("c"));
  clock.Advance(absl::Seconds(30));
  MustCreate(For("a"));
  Settle();
  EXPECT_THAT(PutOut(), IsEmpty());
  EXPECT_EQ(pool.num_waiting(), 0);
  RunToEnd(a);
  Settle();
  EXPECT_THAT(PutOut(), ElementsAre("a"));
  EXPECT_EQ(pool.loads().back().model, "c");
}

TEST_F(ResidencyTest, TheEstimateHasTheLoadTime) {
  EXPECT_GT(EstimateOf("a").model_load, absl::ZeroDuration());
  MustCreate(For("a"));
  Settle();
  clock.Advance(absl::Seconds(7));
  Loaded();
  EXPECT_EQ(EstimateOf("a").model_load, absl::ZeroDuration());
  RunToEnd(Take());
  Render("b");
  Render("c");
  ASSERT_EQ(Shown("a"), ModelState::kOnDemand);
  const CostEstimate estimate = EstimateOf("a");
  EXPECT_EQ(estimate.model_load, absl::Seconds(7));
  EXPECT_GE(estimate.queue, absl::Seconds(7));
}

TEST_F(ResidencyTest, AnOldListOfAWorkersModelsBringsNoneBack) {
  Render("a");
  WorkerInfo late = dispatcher->Workers()[0];
  Render("b");
  Render("c");
  dispatcher->WorkerChanged(late);
  Settle();
  EXPECT_EQ(Shown("a"), ModelState::kOnDemand);
}

TEST_F(ResidencyTest, WhatAStartingWorkerKnowsIsNotForgottenWhenMoreIsHeardOfItsStart) {
  WorkerInfo starting = ReadyWorker("w1");
  starting.state = WorkerState::kStarting;
  dispatcher->WorkerChanged(starting);
  dispatcher->Report({"w1", {}, ModelKnown{"a", CardOf("a")}});
  dispatcher->WorkerChanged(starting);  // of a model that it had loaded before that
  dispatcher->WorkerChanged(ReadyWorker("w1"));
  NewJob request = For("a");
  request.spec.worker = "w1";
  MustCreate(request);
  Settle();
  ASSERT_EQ(pool.loads().size(), 1u);
  EXPECT_EQ(pool.loads()[0].worker, "w1");
}

TEST_F(ResidencyTest, OneThatCannotBeLoadedIsTriedAgainLater) {
  MustCreate(For("a"));
  Settle();
  dispatcher->Report(
      {"w0", {}, ModelFailed{"a", absl::NotFoundError("gone"), pool.loads()[0].revision}});
  Settle();
  EXPECT_EQ(Shown("a"), ModelState::kFailed);
  AdvanceAndPoke(absl::Seconds(1));
  EXPECT_EQ(pool.loads().size(), 1u);
  AdvanceAndPoke(kLoadAgain);
  EXPECT_EQ(pool.loads().size(), 2u);
  Loaded();
  EXPECT_EQ(Take().assignment.spec.model, "a");
}

TEST_F(ResidencyTest, AWorkerThatStartsAgainLoadsItForTheJobThatItLost) {
  MustCreate(For("a"));
  Settle();
  Loaded();
  Take();
  dispatcher->WorkerLost("w0", LossCause::kKilled);
  Settle();
  EXPECT_EQ(pool.loads().size(), 1u);
  Add("w0", 3 * kWeights + 2 * kJob);
  EXPECT_EQ(pool.loads().size(), 2u);
  Loaded();
  EXPECT_EQ(Take().assignment.ref.attempt, 2);
}

}  // namespace
}  // namespace reel::front
