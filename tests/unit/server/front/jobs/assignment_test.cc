// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "server/errors/error.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

class AssignmentTest : public ::testing::Test, public Harness {
 protected:
  void StartAll() {
    Start();
    AddWorker();
  }
};

TEST_F(AssignmentTest, AWorkerHoldsAFewJobsAndNoMore) {
  StartAll();
  for (int i = 0; i < 5; ++i) MustCreate(Request());
  Settle();
  EXPECT_EQ(pool.num_waiting(), 2);
  const Sent first = Take();
  EXPECT_LT(first.assignment.order_key, Take().assignment.order_key);
  RunToEnd(first);
  EXPECT_NE(Take().worker, "");
}

TEST_F(AssignmentTest, SmallJobsFillAStep) {
  options.fill_rows = 512 * 5;
  StartAll();
  for (int i = 0; i < 8; ++i) MustCreate(Request());
  Settle();
  EXPECT_EQ(pool.num_waiting(), 5);
}

TEST_F(AssignmentTest, NobodyFillsAStepBesideOneWithMoreThanHalfOfIt) {
  options.fill_rows = 512 * 5;
  StartAll();
  NewJob large = Request();
  large.spec.width = 768;
  large.spec.height = 512;
  MustCreate(large);
  for (int i = 0; i < 4; ++i) MustCreate(Request());
  Settle();
  EXPECT_EQ(pool.num_waiting(), 2);
}

// A worker opens the file that this server has under the name, as long as it is the same.
TEST_F(AssignmentTest, AdaptersTravelWithTheirFilesAndEndAVideoOnceTheyAreOthers) {
  StartAll();
  model::ModelCard card = TestCard();
  card.adapter_ranks = 64;
  Load("w0", card);
  const auto registered = [](const std::string& sum) {
    return std::vector<RegisteredAdapter>{
        {{.name = "grain", .sha256 = sum, .path = "/loras/" + sum}, {}}};
  };
  dispatcher->SetAdapters(registered("a"));
  NewJob adapted = Request();
  adapted.spec.adapters = {{"grain", {}}};
  const JobPtr first = MustCreate(adapted), second = MustCreate(adapted),
               waits = MustCreate(adapted);
  Settle();
  const Sent sent = Take();
  EXPECT_EQ(sent.assignment.spec.adapters,
            (std::vector<model::RequestAdapter>{{"grain", 1, "a", "/loras/a"}}));
  EXPECT_EQ(first->Snapshot().spec.adapters[0].path, "");  // nobody is told
  dispatcher->SetAdapters(registered("b"));
  RunToEnd(sent);
  RunToEnd(Take());
  const Video end = WaitForState(*waits, VideoState::kFailed);
  EXPECT_EQ(ReasonOf(end.error), Reason::kAdapterChanged) << end.error;
  EXPECT_THAT(std::string(end.error.message()), ::testing::HasSubstr("grain"));
  // What a worker holds is not touched.
  WaitForState(*first, VideoState::kSucceeded);
  WaitForState(*second, VideoState::kSucceeded);
}

// A worker has no list of adapters: what one wants of a reference clip travels with its file.
TEST_F(AssignmentTest, WhatAnAdapterWantsOfAReferenceTravelsWithItsFile) {
  StartAll();
  model::ModelCard card = TestCard();
  card.adapter_ranks = 64;
  card.supports_conditions = card.takes_references = true;
  Load("w0", card);
  dispatcher->SetAdapters({{{.name = "pose",
                             .sha256 = "p",
                             .path = "/loras/p",
                             .reference = model::ReferenceScale{2, 4}},
                            {}}});
  NewJob adapted = Request();
  adapted.spec.adapters = {{"pose", {}}};
  model::Condition& clip = adapted.spec.conditions.emplace_back();
  clip.kind = model::Condition::Kind::kVideo;
  clip.use = model::Condition::Use::kReference;
  clip.bytes = std::make_shared<const std::string>("clip");
  const JobPtr job = MustCreate(adapted);
  Settle();
  const Sent sent = Take();
  EXPECT_EQ(sent.assignment.spec.adapters[0].reference, (model::ReferenceScale{2, 4}));
  EXPECT_EQ(job->Snapshot().spec.adapters[0].reference, std::nullopt);  // nor is this told
}

TEST_F(AssignmentTest, WhatNoDeviceWillEverRunEnds) {
  StartAll();
  AddWorker("w1");
  NewJob pinned = Request();
  pinned.spec.worker = "w1";
  const JobPtr sent = MustCreate(pinned), lost = MustCreate(pinned), waits = MustCreate(pinned);
  const JobPtr other = MustCreate(Request());
  Settle();
  dispatcher->WorkerLost("w1", LossCause::kSticky);
  WorkerInfo out = ReadyWorker("w1");
  out.state = WorkerState::kOut;
  dispatcher->WorkerChanged(out);
  for (const JobPtr& job : {sent, lost, waits}) {
    const Video end = WaitForState(*job, VideoState::kFailed);
    EXPECT_EQ(ReasonOf(end.error), Reason::kNoDevice) << end.error;
  }
  EXPECT_FALSE(IsFinal(other->Snapshot().state));
  EXPECT_EQ(ReasonOf(Create(pinned).status()), Reason::kNoDevice);
}

TEST_F(AssignmentTest, SpreadsJobsOverWorkers) {
  StartAll();
  AddWorker("w1");
  MustCreate(Request());
  MustCreate(Request());
  EXPECT_EQ((std::set<std::string>{Take().worker, Take().worker}),
            (std::set<std::string>{"w0", "w1"}));
}

TEST_F(AssignmentTest, APinnedJobWaitsForItsWorker) {
  StartAll();
  AddWorker("w1");
  NewJob pinned = Request();
  pinned.spec.worker = "w1";
  for (int i = 0; i < 3; ++i) MustCreate(pinned);
  EXPECT_EQ(Take().worker, "w1");
  EXPECT_EQ(Take().worker, "w1");
  Settle();
  EXPECT_EQ(pool.num_waiting(), 0);
  NewJob free = Request();
  MustCreate(free);
  EXPECT_EQ(Take().worker, "w0");
}

TEST_F(AssignmentTest, AVariantGoesWhereItRuns) {
  StartAll();
  WorkerInfo info;
  info.name = "new";
  info.state = WorkerState::kReady;
  info.kernels = {{"rms_norm", {{"sm90", "built-in", true, true, ""}}}};
  dispatcher->WorkerChanged(info);
  Load("new", TestCard());
  NewJob request = Request();
  request.spec.kernels.variants = {{"rms_norm", "sm90"}};
  for (int i = 0; i < 2; ++i) MustCreate(request);
  EXPECT_EQ(Take().worker, "new");
  EXPECT_EQ(Take().worker, "new");
}

TEST_F(AssignmentTest, AFloodingTenantHoldsNobodyUp) {
  StartAll();
  options.max_backlog_seconds = 1e6;
  for (int i = 0; i < 50; ++i) {
    MustCreate(Request());
    clock.Advance(absl::Milliseconds(1));
  }
  NewJob other = Request("other");
  other.tenant = "u";
  MustCreate(other);
  // Two of the flood are at the worker; the next slot is the other tenant's.
  std::vector<Sent> running = {Take(), Take()};
  RunToEnd(running[0]);
  EXPECT_EQ(Take().assignment.spec.prompt, "other");
}

TEST_F(AssignmentTest, HighPriorityGoesFirstWithinATenant) {
  StartAll();
  std::vector<Sent> running;
  for (int i = 0; i < 2; ++i) {
    MustCreate(Request());
    running.push_back(Take());
  }
  for (const char* prompt : {"low", "normal", "high"}) {
    NewJob request = Request(prompt);
    request.priority = prompt[0] == 'l'   ? Priority::kLow
                       : prompt[0] == 'n' ? Priority::kNormal
                                          : Priority::kHigh;
    MustCreate(request);
  }
  for (const char* expected : {"high", "normal", "low"}) {
    RunToEnd(running.back());
    running.pop_back();
    running.push_back(Take());
    EXPECT_EQ(running.back().assignment.spec.prompt, expected);
  }
}

TEST_F(AssignmentTest, AHighJobGoesBeforeWhatItsWorkerHasNotBegun) {
  StartAll();
  MustCreate(Request());
  const Sent running = Take();
  Progress(running, model::Stage::kDenoise, 1);
  MustCreate(Request());
  const Sent held = Take();
  MustCreate(Request("after"));
  Settle();
  EXPECT_EQ(pool.num_waiting(), 0);
  NewJob request = Request("high");
  request.priority = Priority::kHigh;
  MustCreate(request);
  const Sent high = Take();
  EXPECT_EQ(high.assignment.spec.prompt, "high");
  EXPECT_GT(high.assignment.order_key, running.assignment.order_key);
  EXPECT_LT(high.assignment.order_key, pool.order_key(held));
  // Two go before the next one that would pass: there is an end to it.
  MustCreate(request);
  Settle();
  EXPECT_EQ(pool.num_waiting(), 0);
}

TEST_F(AssignmentTest, EqualsKeepTheirPlacesWhateverIsLearnedBetweenThem) {
  StartAll();
  StepSample sample;
  sample.model = "card";
  sample.plan = "auto";
  sample.rows = 512;
  sample.duration = absl::Seconds(1);
  for (int i = 0; i < 20; ++i) Step(sample);
  std::vector<Sent> begun;
  for (int i = 0; i < 2; ++i) {
    MustCreate(Request());
    begun.push_back(Take());
    Progress(begun[i], model::Stage::kTextEncode, 0);
  }
  MustCreate(Request("first"));
  sample.duration = absl::Seconds(2);
  for (int i = 0; i < 20; ++i) Step(sample);
  clock.Advance(absl::Milliseconds(1));
  MustCreate(Request("second"));
  AdvanceAndPoke(absl::Seconds(2));  // a tick
  RunToEnd(begun[0]);
  EXPECT_EQ(Take().assignment.spec.prompt, "first");
}

TEST_F(AssignmentTest, WhatHasBegunKeepsItsPlace) {
  StartAll();
  std::vector<Sent> begun;
  for (int i = 0; i < 2; ++i) {
    MustCreate(Request());
    begun.push_back(Take());
    Progress(begun[i], model::Stage::kTextEncode, 0);
  }
  NewJob request = Request("high");
  request.priority = Priority::kHigh;
  MustCreate(request);
  Settle();
  EXPECT_EQ(pool.num_waiting(), 0);
  for (const Sent& sent : begun) EXPECT_EQ(pool.order_key(sent), sent.assignment.order_key);
}

TEST_F(AssignmentTest, AnotherTenantPassesWhatIsOnlyHeldByItsShare) {
  StartAll();
  MustCreate(Request());
  Progress(Take(), model::Stage::kDenoise, 1);
  MustCreate(Request());
  const Sent held = Take();
  NewJob other = Request("other");
  other.tenant = "u";
  MustCreate(other);
  const Sent passing = Take();
  EXPECT_EQ(passing.assignment.spec.prompt, "other");
  EXPECT_LT(passing.assignment.order_key, pool.order_key(held));
}

TEST_F(AssignmentTest, AConfiguredProfileTravelsAsWhatItStandsFor) {
  options.kernel_profiles = {{"ours", "reference", {{"rms_norm", "fast"}}}};
  StartAll();
  NewJob request = Request();
  request.spec.kernels.profile = "ours";
  JobPtr job = MustCreate(request);
  const Sent sent = Take();
  EXPECT_EQ(sent.assignment.spec.kernels.profile, "reference");
  EXPECT_EQ(sent.assignment.spec.kernels.variants.at("rms_norm"), "fast");
  EXPECT_EQ(job->Snapshot().spec.kernels.profile, "ours");
}

TEST_F(AssignmentTest, TheWatchdogFollowsThePrediction) {
  StartAll();
  MustCreate(Request());
  const Sent sent = Take();
  EXPECT_EQ(pool.step_limit("w0"), absl::Seconds(5));  // the floor
  StepSample sample;
  sample.model = "card";
  sample.plan = "auto";
  sample.rows = 512;
  sample.jobs = {sent.assignment.ref.job};
  sample.duration = absl::Seconds(2);
  for (int i = 0; i < 20; ++i) Step(sample);
  dispatcher->Flush();
  EXPECT_GE(pool.step_limit("w0"), absl::Seconds(20));
  EXPECT_LE(pool.step_limit("w0"), absl::Seconds(40));
  EXPECT_EQ(observer.Get().stepped, 20);
}

TEST_F(AssignmentTest, AModelWithWeightsHasTimeForItsFirstStep) {
  Start();
  AddWorker();
  model::ModelCard card = TestCard("late");
  card.parameters = 1000;
  Load("w0", card);
  NewJob request = Request();
  request.spec.model = "late";
  MustCreate(request);
  Take();
  EXPECT_GE(pool.step_limit("w0"), absl::Minutes(1));
}

TEST_F(AssignmentTest, NothingGoesToAWorkerThatIsNotReady) {
  StartAll();
  WorkerInfo info = dispatcher->Workers()[0];
  info.state = WorkerState::kDraining;
  dispatcher->WorkerChanged(info);
  MustCreate(Request());
  Settle();
  EXPECT_EQ(pool.num_waiting(), 0);
  info.state = WorkerState::kReady;
  dispatcher->WorkerChanged(info);
  EXPECT_EQ(Take().worker, "w0");
}

}  // namespace
}  // namespace reel::front
