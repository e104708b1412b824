// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace reel::worker {
namespace {

using ::testing::ElementsAre;

class FakeGeneration : public model::Generation {
 public:
  explicit FakeGeneration(int64_t rows) : rows_(rows) {}
  int step() const override { return 0; }
  int num_steps() const override { return 1; }
  int64_t rows() const override { return rows_; }
  int64_t device_bytes() const override { return 0; }
  absl::Status Park(bool) override { return absl::OkStatus(); }
  absl::Status Resume() override { return absl::OkStatus(); }

 private:
  int64_t rows_;
};

class PickBatchTest : public ::testing::Test {
 protected:
  HeldJob& Add(int64_t rows, Phase phase = Phase::kDenoise) {
    auto job = std::make_unique<HeldJob>();
    if (phase != Phase::kCreate) job->generation = std::make_unique<FakeGeneration>(rows);
    job->phase = phase;
    job->deadline = absl::InfiniteFuture();
    HeldJob& added = *job;
    jobs_.Add(std::move(job));
    return added;
  }
  JobTable jobs_;
};

TEST_F(PickBatchTest, SkipsJobsThatAreTooLargeAndGoesOn) {
  HeldJob& lead = Add(50);
  Add(60);
  HeldJob& small = Add(50);
  Add(1);
  const Batch batch = PickBatch(jobs_, lead, {100});
  EXPECT_THAT(batch.jobs, ElementsAre(&lead, &small));
  EXPECT_EQ(batch.rows, 100);
  EXPECT_THAT(batch.job_rows, ElementsAre(50, 50));
}

TEST_F(PickBatchTest, NobodyIsTakenBesideOneWhoStepsAlone) {
  HeldJob& lead = Add(50);
  Add(10).steps_alone = true;
  HeldJob& other = Add(10);
  EXPECT_THAT(PickBatch(jobs_, lead, {100}).jobs, ElementsAre(&lead, &other));
  lead.steps_alone = true;
  const Batch alone = PickBatch(jobs_, lead, {100});
  EXPECT_THAT(alone.jobs, ElementsAre(&lead));
  EXPECT_EQ(alone.not_yet, nullptr);
}

TEST_F(PickBatchTest, ALeadLargerThanTheStepGoesAlone) {
  HeldJob& lead = Add(500);
  Add(1);
  EXPECT_THAT(PickBatch(jobs_, lead, {100}).jobs, ElementsAre(&lead));
}

TEST_F(PickBatchTest, OneWithMoreThanHalfOfAStepHasItForItself) {
  HeldJob& large = Add(60);
  HeldJob& small = Add(10);
  HeldJob& other = Add(10);
  EXPECT_THAT(PickBatch(jobs_, large, {100}).jobs, ElementsAre(&large));
  EXPECT_THAT(PickBatch(jobs_, small, {100}).jobs, ElementsAre(&small, &other));
  HeldJob& fresh = Add(10, Phase::kBegin);
  EXPECT_EQ(PickBatch(jobs_, large, {100}).not_yet, nullptr);
  EXPECT_EQ(PickBatch(jobs_, small, {100}).not_yet, &fresh);
}

TEST_F(PickBatchTest, WaitsForOneThatCouldJoin) {
  HeldJob& lead = Add(50);
  HeldJob& fresh = Add(0, Phase::kCreate);
  EXPECT_EQ(PickBatch(jobs_, lead, {100}).not_yet, &fresh);
  fresh.generation = std::make_unique<FakeGeneration>(80);
  fresh.phase = Phase::kBegin;
  EXPECT_EQ(PickBatch(jobs_, lead, {100}).not_yet, nullptr);
  EXPECT_EQ(PickBatch(jobs_, lead, {200}).not_yet, &fresh);
}

TEST_F(PickBatchTest, NobodyIsBegunWhoseRowsAreTooMany) {
  HeldJob& lead = Add(50);
  Add(0, Phase::kCreate).planned_rows = 60;
  EXPECT_EQ(PickBatch(jobs_, lead, {100}).not_yet, nullptr);
}

TEST_F(PickBatchTest, PassesOverThoseWhoCannotStep) {
  HeldJob& lead = Add(10);
  Add(10).parked = true;
  Add(10).alone = true;
  Add(10, Phase::kDecode);
  HeldJob& other_plan = Add(10);
  other_plan.plan = kernels::KernelPlan("reference", {});
  const Batch batch = PickBatch(jobs_, lead, {100});
  EXPECT_THAT(batch.jobs, ElementsAre(&lead));
  EXPECT_EQ(batch.not_yet, nullptr);
}

TEST_F(PickBatchTest, WhoWouldJoinComesBeforeFramesOfOthers) {
  HeldJob& lead = Add(10);
  HeldJob& decodes = Add(10, Phase::kDecode);
  EXPECT_EQ(PickPiece(jobs_, PickBatch(jobs_, lead, {100})), &decodes);
  HeldJob& joins = Add(10, Phase::kBegin);
  EXPECT_EQ(PickPiece(jobs_, PickBatch(jobs_, lead, {100})), &joins);
}

TEST_F(PickBatchTest, APreviewComesBeforeTheNextStep) {
  HeldJob& lead = Add(10);
  HeldJob& other = Add(10);
  other.preview_due = true;
  EXPECT_EQ(PickBatch(jobs_, lead, {100}).not_yet, &other);
}

class PickGainingBatchTest : public PickBatchTest {
 protected:
  void Step(const std::vector<int64_t>& rows, int milliseconds) {
    for (size_t i = 0; i < SharingGains::kWindow; ++i) {
      gains_.Stepped({"", "auto", rows}, absl::Milliseconds(milliseconds), /*tells=*/true);
    }
  }
  Batch Pick(HeldJob& lead) { return PickBatch(jobs_, lead, {1000, &gains_, now_}); }
  // For so long that it is measured again.
  void PassOver(HeldJob& lead) {
    const Batch batch = Pick(lead);
    gains_.PassedOver({"", "auto", batch.could_share}, batch.jobs.size(), absl::Seconds(9));
  }

  SharingGains gains_;
  const absl::Time now_ = absl::UnixEpoch();
};

TEST_F(PickGainingBatchTest, SharesWhileNothingIsKnown) {
  HeldJob& lead = Add(50);
  HeldJob& other = Add(60);
  EXPECT_THAT(Pick(lead).jobs, ElementsAre(&lead, &other));
  EXPECT_EQ(Pick(lead).num_left_out(), 0U);
}

TEST_F(PickGainingBatchTest, WhoLosesByItStepsAloneAndTheOthersDoNotBegin) {
  Step({50}, 10);
  Step({50, 50}, 30);
  HeldJob& lead = Add(50);
  Add(50, Phase::kBegin);
  const Batch batch = Pick(lead);
  EXPECT_THAT(batch.jobs, ElementsAre(&lead));
  EXPECT_EQ(batch.not_yet, nullptr);
  EXPECT_THAT(batch.could_share, ElementsAre(50, 50));
  EXPECT_EQ(batch.num_left_out(), 1U);
  EXPECT_EQ(batch.rows, 50);
}

TEST_F(PickGainingBatchTest, AsManyShareAsGain) {
  Step({50}, 10);
  Step({50, 50, 50}, 40);
  HeldJob& lead = Add(50);
  HeldJob& second = Add(50);
  Add(50);
  EXPECT_THAT(Pick(lead).jobs, ElementsAre(&lead, &second));
  EXPECT_EQ(Pick(lead).num_left_out(), 0U);  // for a measurement
  Step({50, 50}, 15);
  const Batch batch = Pick(lead);
  EXPECT_THAT(batch.jobs, ElementsAre(&lead, &second));
  EXPECT_THAT(batch.could_share, ElementsAre(50, 50, 50));
  EXPECT_EQ(batch.num_left_out(), 1U);
}

TEST_F(PickGainingBatchTest, WhileNoOthersComeTheFirstIsDoneFirstWhereSharingGainsLittle) {
  Step({50}, 10);
  Step({50, 50}, 17);
  HeldJob& lead = Add(50);
  HeldJob& other = Add(50);
  EXPECT_THAT(Pick(lead).jobs, ElementsAre(&lead, &other));
  const Sharing at_rest = {.fill_rows = 1000, .gains = &gains_, .now = now_, .more_come = false};
  EXPECT_THAT(PickBatch(jobs_, lead, at_rest).jobs, ElementsAre(&lead));
}

TEST_F(PickGainingBatchTest, WhereALargeOneLosesThoseOfTheLeadsSizeShare) {
  Step({50}, 10);
  Step({400}, 80);
  Step({50, 400}, 100);
  Step({50, 400, 50}, 110);
  HeldJob& lead = Add(50);
  Add(400);
  HeldJob& alike = Add(50);
  EXPECT_THAT(Pick(lead).jobs, ElementsAre(&lead, &alike));
}

TEST_F(PickGainingBatchTest, WhoWouldGainIsBegun) {
  Step({50}, 10);
  Step({50, 50}, 12);
  HeldJob& lead = Add(50);
  HeldJob& fresh = Add(50, Phase::kBegin);
  EXPECT_EQ(Pick(lead).not_yet, &fresh);
}

TEST_F(PickGainingBatchTest, ATryWaitsForOneThatHasNotBegun) {
  Step({50}, 10);
  Step({50, 50}, 30);
  HeldJob& lead = Add(50);
  HeldJob& fresh = Add(50, Phase::kBegin);
  PassOver(lead);
  EXPECT_EQ(Pick(lead).not_yet, &fresh);
  fresh.phase = Phase::kDenoise;
  EXPECT_THAT(Pick(lead).jobs, ElementsAre(&lead, &fresh));
}

TEST_F(PickGainingBatchTest, ATightDeadlineIsNotTriedUpon) {
  Step({50}, 10);
  Step({50, 50}, 30);
  HeldJob& lead = Add(50);
  HeldJob& other = Add(50);
  PassOver(lead);
  lead.deadline = other.deadline = now_ + absl::Seconds(2);
  EXPECT_THAT(Pick(lead).jobs, ElementsAre(&lead));
  lead.deadline = absl::InfiniteFuture();
  EXPECT_THAT(Pick(lead).jobs, ElementsAre(&lead));
  other.deadline = absl::InfiniteFuture();
  EXPECT_THAT(Pick(lead).jobs, ElementsAre(&lead, &other));
}

}  // namespace
}  // namespace reel::worker
