// SPDX-License-Identifier: Apache-2.0
// A call's way into the log, while others are on theirs.
#include "server/front/node/submission.h"

#include <gtest/gtest.h>

#include <iostream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "server/front/fleet/log_messages.h"
#include "server/front/jobs/video_id.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

using SubmissionTest = FleetFixture;

// Two servers bind one request id at about the same time, and each hears of the other's binding at
// any moment. One that heard of it between two looks of one decision bound the id once more: that
// is void, and it waited for it in vain.
TEST_F(SubmissionTest, ARequestIdThatARivalBindsMeanwhileIsNotBoundAgain) {
  constexpr int kRounds = 200;
  Member& a = Add("a", false);
  Member& b = Add("b", false);
  FleetView view;
  const auto port = log_.Join(view);
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(absl::StrCat("round ", round));
    const NewJob job =
        RequestWithId(absl::StrCat("8c5b0f60-0000-4000-8000-", absl::Dec(round, absl::kZeroPad12)));
    absl::StatusOr<JobPtr> at_a, at_b;
    std::thread rival([&] { at_b = b.Ask(job); });
    at_a = a.Ask(job);
    rival.join();
    ASSERT_EQ(log_.Count(".r.2"), 0) << "bound twice";
    ASSERT_TRUE(at_a.ok()) << at_a.status();
    ASSERT_TRUE(at_b.ok()) << at_b.status();
    ASSERT_EQ((*at_a)->Snapshot().id, (*at_b)->Snapshot().id);
  }
  EXPECT_EQ(log_.Count(".r.1"), kRounds);
  EXPECT_TRUE(view.voids().empty());
}

constexpr char kId[] = "8c5b0f60-0000-4000-8000-000000000001";

TEST_F(SubmissionTest, SeveralOfOneCallAreOneMessageAndTheSameAtEveryServer) {
  Member& a = Add("a", false);
  Member& b = Add("b", false);
  const NewJob job = SeveralWithId(kId, 4);
  const auto made = a.AskAll(job);
  const std::vector<std::string> ids = IdsOf(made);
  ASSERT_EQ(ids.size(), 4U);
  for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ((*made)[i]->Snapshot().spec.seed, 7 + i);
  EXPECT_EQ(log_.Count(".q"), 1) << "a crash leaves all of them or none";
  EXPECT_EQ(IdsOf(b.AskAll(job)), ids);
  b.Begin(false);
  EXPECT_EQ(IdsOf(b.AskAll(job)), ids);
  EXPECT_EQ(log_.Count(".q"), 1);
  EXPECT_EQ(ReasonOf(b.AskAll(SeveralWithId(kId, 5)).status()), Reason::kRequestIdConflict);
}

TEST_F(SubmissionTest, SeveralWhoseWriterWasLostAfterItsBindingAreWrittenByTheNextCall) {
  Member& a = Add("a", false);
  const NewJob job = SeveralWithId(kId, 3);
  const std::string first = NewVideoId("prod");
  const std::string spec_hash = Sha256Hex(absl::StrCat(Sha256Hex(job.spec_sent), "*3"));
  ASSERT_TRUE(log_.Append(MakeSubject({"t", kId, LogKind::kBinding, 1}).value(),
                          WriteBinding({first, spec_hash})));
  absl::StatusOr<Jobs> made = absl::UnknownError("not asked");
  std::thread caller([&] { made = a.AskAll(job); });
  EXPECT_TRUE(Comes([&] { return log_.Count(".q") == 1; }));
  caller.join();
  EXPECT_EQ(IdsOf(made),
            (std::vector<std::string>{first, OtherVideoId(first, 1), OtherVideoId(first, 2)}));
}

TEST_F(SubmissionTest, SeveralAreTakenByWhicheverServersHaveRoom) {
  Member& a = Add("a");
  Member& b = Add("b");
  const std::vector<std::string> ids = IdsOf(a.AskAll(SeveralWithId(kId, 4)));
  ASSERT_EQ(ids.size(), 4U);
  int by_b = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    Member* const runs = WhoRuns();
    ASSERT_NE(runs, nullptr);
    by_b += runs == &b ? 1 : 0;
    runs->RunToEnd(runs->Take());
  }
  for (const std::string& id : ids) {
    EXPECT_TRUE(Comes([&] { return a.StateOf(id) == VideoState::kSucceeded; }));
  }
  EXPECT_EQ(IdsOf(b.AskAll(SeveralWithId(kId, 4))), ids);
  std::cout << "by the other server: " << by_b << "\n";
}

}  // namespace
}  // namespace reel::front
