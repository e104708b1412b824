// SPDX-License-Identifier: Apache-2.0
// Tests quotes, times left and placement where a worker keeps jobs apart that would fit into a
// step.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

class KeptApartTest : public ::testing::Test, public Harness {
 protected:
  KeptApartTest() {
    options.fill_rows = 512 * 8;
    Start();
    AddWorker();
    LearnSteps(absl::Seconds(1));
  }
  // A step of these jobs beside which so many were kept apart.
  void StepOf(const std::vector<Sent>& sent, int left_out, absl::Duration took = absl::Seconds(1)) {
    StepSample sample;
    sample.model = "card";
    sample.plan = "auto";
    for (const Sent& one : sent) {
      sample.jobs.push_back(one.assignment.ref.job);
      sample.job_rows.push_back(512);
      sample.rows += 512;
    }
    sample.duration = took;
    sample.left_out = left_out;
    Step(sample);
    Settle();
  }
  double RemainingAfter(const Sent& sent, const JobPtr& job) {
    Progress(sent, model::Stage::kDenoise, ++steps_);
    Settle();
    return absl::ToDoubleSeconds(job->Snapshot().progress.remaining);
  }

  int steps_ = 0;
};

TEST_F(KeptApartTest, TheTimeLeftCountsThoseWhoGoFirst) {
  const JobPtr first = MustCreate(Request()), second = MustCreate(Request());
  const Sent a = Take(), b = Take();
  Progress(a, model::Stage::kDenoise, 1);
  const double together = RemainingAfter(b, second);
  EXPECT_NEAR(together, 9, 2);
  StepOf({a}, 1);
  EXPECT_NEAR(RemainingAfter(b, second), 9 + 8, 2);
  for (int i = 0; i < 9; ++i) StepOf({a, b}, 0);
  EXPECT_NEAR(RemainingAfter(b, second), 7, 2);
}

// A worker that was given two at a time never saw that eight together gain.
TEST_F(KeptApartTest, AWorkerIsGivenAllThatFitAlsoWhileItKeepsSomeApart) {
  std::vector<Sent> sent;
  for (int i = 0; i < 2; ++i) {
    MustCreate(Request());
    sent.push_back(Take());
  }
  StepOf({sent[0]}, 1);
  for (int i = 0; i < 4; ++i) MustCreate(Request());
  Settle();
  EXPECT_EQ(pool.num_waiting(), 4);
}

TEST_F(KeptApartTest, AQuoteNeverCountedOnCompany) {
  MustCreate(Request());
  MustCreate(Request());
  const Sent a = Take(), b = Take();
  Progress(a, model::Stage::kDenoise, 1);
  Progress(b, model::Stage::kDenoise, 1);
  const auto quote = [&] {
    return *Await<CostEstimate>(
        [&](auto done) { dispatcher->Estimate(Request(), std::move(done)); });
  };
  // Before anything is known of company; then where shared steps lose, and are learned from; then
  // where they are made no more.
  const CostEstimate before = quote();
  for (int i = 0; i < 5; ++i) StepOf({a, b}, 0, absl::Seconds(3));
  const CostEstimate sharing = quote();
  for (int i = 0; i < 20; ++i) StepOf({a}, 1);
  const CostEstimate apart = quote();
  for (const CostEstimate& later : {sharing, apart}) {
    EXPECT_NEAR(absl::ToDoubleSeconds(later.run_p50), absl::ToDoubleSeconds(before.run_p50), 0.1);
    EXPECT_NEAR(absl::ToDoubleSeconds(later.queue), absl::ToDoubleSeconds(before.queue), 0.1);
  }
  EXPECT_GT(before.queue, absl::Seconds(17));  // all that is before it, one after the other
}

}  // namespace
}  // namespace reel::front
