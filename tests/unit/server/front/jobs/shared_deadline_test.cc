// SPDX-License-Identifier: Apache-2.0
// Deadlines of videos that would share the steps of what runs, or have a worker to themselves.
#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

// The card's jobs have ten steps of a second; small ones share theirs.
class SharedDeadlineTest : public ::testing::Test, public Harness {
 protected:
  void SetUp() override {
    options.fill_rows = 100'000;
    Start();
    AddWorker();
    LearnSteps(absl::Seconds(1));
    LearnSteps(absl::Seconds(1));
  }
  // One that has done five steps.
  void StartLong(const NewJob& request) {
    MustCreate(request);
    const Sent sent = Take();
    Progress(sent, model::Stage::kDenoise, 0);
    Settle();
    clock.Advance(absl::Seconds(1));
    Progress(sent, model::Stage::kDenoise, 5);
    Settle();
  }
  NewJob Tight(absl::Duration timeout) {
    NewJob request = Request("tight");
    request.timeout = timeout;
    return request;
  }
};

// Five steps of a second are left of the running one; the newcomer has ten of its own.
TEST_F(SharedDeadlineTest, ADeadlineIsTakenThatSharedStepsMeet) {
  StartLong(Request());
  MustCreate(Tight(absl::Seconds(17)));
  Take();
}

TEST_F(SharedDeadlineTest, ADeadlineThatSharedStepsMissIsRefused) {
  NewJob longer = Request();
  longer.spec.num_inference_steps = 60;
  StartLong(longer);
  // Beside it eleven steps of two seconds.
  EXPECT_EQ(ReasonOf(Create(Tight(absl::Seconds(18))).status()), Reason::kDeadlineUnreachable);
  MustCreate(Tight(absl::Seconds(25)));
  // A third would share with both.
  EXPECT_EQ(ReasonOf(Create(Tight(absl::Seconds(25))).status()), Reason::kDeadlineUnreachable);
}

TEST_F(SharedDeadlineTest, NoDeadlineIsTakenAtTheCostOfAnotherOne) {
  NewJob longer = Request();
  longer.spec.num_inference_steps = 60;
  longer.timeout = absl::Seconds(70);
  StartLong(longer);
  EXPECT_EQ(ReasonOf(Create(Tight(absl::Seconds(25))).status()), Reason::kDeadlineUnreachable);
}

TEST_F(SharedDeadlineTest, WhoWouldWaitForAPlaceSharesNothing) {
  NewJob longer = Request();
  longer.spec.num_inference_steps = 60;
  StartLong(longer);
  NewJob other_plan = Request();
  other_plan.spec.kernels.profile = "reference";
  MustCreate(other_plan);
  EXPECT_EQ(ReasonOf(Create(Tight(absl::Seconds(25))).status()), Reason::kDeadlineUnreachable);
}

TEST_F(SharedDeadlineTest, AnIdleWorkerTakesAVideoWhateverOthersDo) {
  AddWorker("w1");
  NewJob longer = Request();
  longer.spec.num_inference_steps = 60;
  StartLong(longer);
  MustCreate(Tight(absl::Seconds(13)));
  EXPECT_EQ(Take().worker, "w1");
}

}  // namespace
}  // namespace reel::front
