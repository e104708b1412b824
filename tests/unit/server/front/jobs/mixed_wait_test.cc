// SPDX-License-Identifier: Apache-2.0
// Tests the wait that a pool of several kinds tells against the wait of a video in it.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "tests/unit/server/front/jobs/mixed_pool_run.h"

namespace reel::front {
namespace {

struct WaitCase {
  double gain;  // of the group over a single device
  int singles, queued;
  bool sizes_mixed = false;
};

class MixedWaitTest : public MixedPoolRun {
 protected:
  static NewJob JobOf(const WaitCase& of, const std::string& prompt, int number) {
    return of.sizes_mixed && number % 3 != 0 ? Small(prompt) : Long(prompt);
  }
  // Quoted over what it was, of one that comes when some have been made.
  double QuotedOverWaited(const WaitCase& of) {
    AddPool(of.gain, of.singles);
    for (int i = 0; i < of.queued; ++i) Queue(JobOf(of, absl::StrCat("fox ", 100 + i), i));
    RunUntilEnded(4);
    const NewJob probe = Long("probe");
    const absl::Duration quoted = EstimateOf(probe).queue;
    const absl::Duration came = clock.Monotonic();
    Queue(probe);
    while (!HasStarted("probe") && Step()) {
    }
    return absl::FDivDuration(quoted, began_.at("probe") - came);
  }
};

class WaitOfTwoKinds : public MixedWaitTest, public ::testing::WithParamInterface<WaitCase> {};

TEST_P(WaitOfTwoKinds, IsQuotedAsItComes) { EXPECT_NEAR(QuotedOverWaited(GetParam()), 1, 0.15); }

INSTANTIATE_TEST_SUITE_P(Pools, WaitOfTwoKinds,
                         ::testing::Values(WaitCase{2, 2, 24}, WaitCase{2, 2, 60},
                                           WaitCase{3.5, 3, 40}, WaitCase{1.9, 1, 30},
                                           WaitCase{2, 2, 60, true}));

TEST_F(MixedWaitTest, OfOneKindIsTheBacklogOverItsWorkers) {
  for (const char* name : {"a", "b", "c"}) AddSingle(name);
  LearnSteps(kSingle, 1);
  for (int i = 0; i < 7; ++i) Queue(Long(absl::StrCat("fox ", i)));
  const CostEstimate estimate = EstimateOf(Long("probe"));
  EXPECT_EQ(estimate.queue, 7 * estimate.run_p50 / 3);
}

// A minute for each worker, where the group makes four videos in the time of one.
TEST_F(MixedWaitTest, TheQueueIsFullWhenItTakesThePoolAsLongAsIsAllowed) {
  options.max_backlog_seconds = 60;
  SchedulerFixture::TearDown();
  SchedulerFixture::SetUp();
  AddPool(4);
  int taken = 0;
  while (EstimateOf(Long("fox")).refusal.ok()) Queue(Long(absl::StrCat("fox ", ++taken)));
  EXPECT_EQ(ReasonOf(EstimateOf(Long("fox")).refusal), Reason::kQueueFull);
  const absl::Duration began = clock.Monotonic();
  RunUntilEnded(static_cast<size_t>(taken));
  EXPECT_EQ(ended_.size(), static_cast<size_t>(taken));
  const double took = absl::ToDoubleSeconds(clock.Monotonic() - began);
  EXPECT_GE(took, 50);
  EXPECT_LE(took, 60 + 10 * kLongStep);  // the last one may be a single device's
}

}  // namespace
}  // namespace reel::front
