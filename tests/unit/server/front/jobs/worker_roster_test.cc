// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/worker_roster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

class FleetTest : public ::testing::Test {
 protected:
  FleetTest()
      : roster_((options_.models = {SourceOf("m"), SourceOf("n")}, options_.fill_rows = 1000,
                 options_)) {}
  void Add(const std::string& name, WorkerState state = WorkerState::kReady) {
    WorkerInfo info;
    info.name = name;
    info.state = state;
    roster_.Update(info);
    if (state == WorkerState::kReady) roster_.SetLoaded(name, Card("m"));
  }
  static model::ModelCard Card(const std::string& name) {
    model::ModelCard card;
    card.name = name;
    return card;
  }
  static Need NeedOf(int64_t rows, bool alone = false) {
    Need need;
    need.model = "m";
    need.shape.model = "m";
    need.shape.plan = "auto";
    need.shape.passes = {{.tokens = rows, .rows = rows, .steps = 1}};
    need.alone = alone;
    return need;
  }
  void Hold(const std::string& worker, const std::string& job, int64_t rows,
            absl::Duration left = absl::Seconds(1), bool alone = false) {
    HeldJob held;
    held.shape = NeedOf(rows).shape;
    held.left = left;
    held.alone = alone;
    roster_.Hold(worker, job, held);
  }
  std::string PlaceOf(const Need& need) {
    const PlannedWorker* worker = roster_.Place(need);
    return worker == nullptr ? "" : worker->info.name;
  }

  JobOptions options_;
  WorkerRoster roster_;
};

TEST_F(FleetTest, PlacesWhereItIsFinishedFirst) {
  Add("a");
  Add("b");
  Hold("a", "1", 500, absl::Seconds(9));
  Hold("b", "2", 500, absl::Seconds(3));
  EXPECT_EQ(PlaceOf(NeedOf(500)), "b");
}

TEST_F(FleetTest, PlacesNothingWithoutTheModelOrReadiness) {
  Add("a", WorkerState::kStarting);
  EXPECT_EQ(PlaceOf(NeedOf(1)), "");
  Add("a");
  EXPECT_EQ(PlaceOf(NeedOf(1)), "a");
  Need other = NeedOf(1);
  other.model = "n";
  EXPECT_EQ(PlaceOf(other), "");
}

TEST_F(FleetTest, FillsAStepButMixesOnlyEquals) {
  Add("a");
  Hold("a", "1", 300);
  Hold("a", "2", 300);
  EXPECT_EQ(PlaceOf(NeedOf(300)), "a");
  EXPECT_EQ(PlaceOf(NeedOf(500)), "");  // more than a step takes
  Need other_plan = NeedOf(300);
  other_plan.shape.plan = "reference";
  EXPECT_EQ(PlaceOf(other_plan), "");
  EXPECT_TRUE(roster_.AnyRoom());
  Hold("a", "3", 400);
  EXPECT_FALSE(roster_.AnyRoom());
}

TEST_F(FleetTest, FillsNoStepWhereJobsShareNone) {
  Add("cpu");
  model::ModelCard card = Card("m");
  card.steps_alone = true;
  roster_.SetLoaded("cpu", card);
  Hold("cpu", "1", 100);
  EXPECT_EQ(PlaceOf(NeedOf(100)), "cpu");
  Hold("cpu", "2", 100);
  EXPECT_EQ(PlaceOf(NeedOf(100)), "");
  Add("gpu");
  Hold("gpu", "3", 100, absl::Seconds(9));
  Hold("gpu", "4", 100, absl::Seconds(9));
  EXPECT_EQ(PlaceOf(NeedOf(100)), "gpu") << "the same model elsewhere";
}

TEST_F(FleetTest, HoldsTwoWhateverTheirSize) {
  Add("a");
  Hold("a", "1", 100000);
  EXPECT_EQ(PlaceOf(NeedOf(100000)), "a");
  Hold("a", "2", 100000);
  EXPECT_EQ(PlaceOf(NeedOf(1)), "");
}

TEST_F(FleetTest, AloneMeansAnEmptyWorkerThatStaysSo) {
  Add("a");
  Hold("a", "1", 1);
  EXPECT_EQ(PlaceOf(NeedOf(1, true)), "");
  EXPECT_TRUE(roster_.Release("1", 1).has_value());
  EXPECT_EQ(PlaceOf(NeedOf(1, true)), "a");
  Hold("a", "2", 1, absl::Seconds(1), true);
  EXPECT_EQ(PlaceOf(NeedOf(1)), "");
  EXPECT_FALSE(roster_.AnyRoom());
}

TEST_F(FleetTest, ReleasesTheAttemptThatWasHeld) {
  Add("a");
  Hold("a", "1", 1);
  EXPECT_FALSE(roster_.Release("1", 2).has_value());
  EXPECT_EQ(roster_.Running("a"), 1);
  EXPECT_TRUE(roster_.Release("1", 1).has_value());
  EXPECT_EQ(roster_.Running("a"), 0);
}

TEST_F(FleetTest, ALostWorkerHoldsNothingAndHasNothingLoaded) {
  Add("a");
  Hold("a", "1", 1);
  EXPECT_EQ(roster_.Lose("a").size(), 1u);
  EXPECT_EQ(roster_.Running("a"), 0);
  EXPECT_FALSE(roster_.AnyReady());
  EXPECT_TRUE(roster_.Lose("unknown").empty());
  Add("a", WorkerState::kStarting);
  EXPECT_EQ(PlaceOf(NeedOf(1)), "");
}

TEST_F(FleetTest, IsOutWhenEveryWorkerIs) {
  EXPECT_FALSE(roster_.AllOut());  // none has been seen yet
  Add("a", WorkerState::kOut);
  EXPECT_TRUE(roster_.AllOut());
  Add("b", WorkerState::kStarting);
  EXPECT_FALSE(roster_.AllOut());
}

TEST_F(FleetTest, AJobIsHopelessWhenAllThatCouldRunItAreOut) {
  const Need any = NeedOf(1);
  Need pinned = any, late = any;
  pinned.worker = "a";
  late.model = "n";
  EXPECT_FALSE(roster_.Hopeless(any));  // no worker has been seen yet
  Add("a");
  Add("b");
  EXPECT_FALSE(roster_.Hopeless(late));  // what is not there for other reasons may come
  Add("a", WorkerState::kOut);
  EXPECT_FALSE(roster_.Hopeless(any));
  EXPECT_TRUE(roster_.Hopeless(pinned));
  EXPECT_TRUE(roster_.Hopeless(late));
  for (const WorkerState state : {WorkerState::kLost, WorkerState::kStarting}) {
    Add("b", state);
    EXPECT_FALSE(roster_.Hopeless(late));
  }
  Add("b", WorkerState::kOut);
  EXPECT_TRUE(roster_.Hopeless(any));
}

TEST_F(FleetTest, KnowsWhereACostWasPaid) {
  Add("a");
  const PlannedWorker& worker = *roster_.Find("a");
  const auto where = [&](const std::string& device) {
    WorkerInfo info = worker.info;
    info.device = device;
    roster_.Update(info);
    return roster_.WhereOf(worker, "m");
  };
  EXPECT_EQ(where("cuda:0 NVIDIA H200"), where("cuda:5 NVIDIA H200"));
  EXPECT_NE(where("cuda:0 NVIDIA H200"), where("cuda:0 NVIDIA H100"));
  const std::string before = where("cpu");
  EXPECT_NE(before, where("cuda:0 NVIDIA H100"));
  model::ModelCard card = Card("m");
  card.weights_sha256 = std::string(64, 'a');
  roster_.SetCard(card);
  EXPECT_NE(where("cpu"), before);
}

TEST_F(FleetTest, ShowsServedModelsDefaultFirst) {
  Add("a");
  model::ModelCard card;
  for (const char* name : {"n", "m", "not served"}) {
    card.name = name;
    roster_.SetCard(card);
  }
  const auto models = roster_.Models();
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].card.name, "m");
  EXPECT_TRUE(models[0].is_default);
  EXPECT_TRUE(models[0].ready);
  EXPECT_FALSE(models[1].ready);
}

}  // namespace
}  // namespace reel::front
