// SPDX-License-Identifier: Apache-2.0
// A server whose view is behind never denies what another has just made.
#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

class FreshReadsTest : public FleetFixture {
 protected:
  using Answered = reel::testing::Promised<absl::StatusOr<JobPtr>>;
};

TEST_F(FreshReadsTest, AVideoMadeElsewhereIsFoundOnceTheViewHasIt) {
  Member& a = Add("a");
  Member& b = Add("b");
  log_.Hold(*b.port);
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  Answered found;
  b.service->Find({"t"}, id, [&](auto answer) { found.Give(std::move(answer)); });
  b.service->Poke();
  log_.Mend(*b.port);
  ASSERT_TRUE(Comes([&] { return found.given(); }));
  const auto job = found.Take();
  ASSERT_TRUE(job->ok()) << job->status();
  EXPECT_EQ((**job)->Snapshot().id, id);
}

TEST_F(FreshReadsTest, AViewThatStaysBehindAnswersUnavailable) {
  Member& a = Add("a");
  Member& b = Add("b");
  log_.Hold(*b.port);
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  Answered found;
  b.service->Find({"t"}, id, [&](auto answer) { found.Give(std::move(answer)); });
  ASSERT_TRUE(Comes([&] { return found.given(); }));
  EXPECT_EQ(ReasonOf(found.Take()->status()), Reason::kFleetUnavailable);
}

TEST_F(FreshReadsTest, CancelAndDeleteWaitForTheViewAsWell) {
  Member& a = Add("a");
  Member& b = Add("b");
  log_.Hold(*b.port);
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  reel::testing::Promised<absl::StatusOr<Video>> cancelled;
  b.service->Cancel({"t"}, id, [&](auto answer) { cancelled.Give(std::move(answer)); });
  b.service->Poke();
  log_.Mend(*b.port);
  ASSERT_TRUE(Comes([&] { return cancelled.given(); }));
  EXPECT_TRUE(cancelled.Take()->ok());
}

TEST_F(FreshReadsTest, NamesOfNoVideoAreNotFoundAndOneLookAnswersMany) {
  Member& a = Add("a");
  a.MustAsk(a.Request());
  const int before = log_.looks();
  std::vector<std::unique_ptr<Answered>> found;
  for (int i = 0; i < 500; ++i) {
    found.push_back(std::make_unique<Answered>());
    a.service->Find({"t"}, absl::StrCat("prod-none", i),
                    [&one = *found.back()](auto answer) { one.Give(std::move(answer)); });
  }
  ASSERT_TRUE(Comes([&] { return found.back()->given(); }));
  for (const auto& one : found) {
    ASSERT_TRUE(one->given());
    EXPECT_EQ(ReasonOf(one->Take()->status()), Reason::kVideoNotFound);
  }
  EXPECT_LE(log_.looks() - before, 20);
}

TEST_F(FreshReadsTest, WithoutItsLogAServerDoesNotDenyAVideo) {
  Member& a = Add("a");
  Member& b = Add("b");
  log_.Cut(*b.port);
  const std::string id = a.MustAsk(a.Request())->Snapshot().id;
  Answered found;
  b.service->Find({"t"}, id, [&](auto answer) { found.Give(std::move(answer)); });
  ASSERT_TRUE(Comes([&] { return found.given(); }));
  EXPECT_EQ(ReasonOf(found.Take()->status()), Reason::kFleetUnavailable);
}

}  // namespace
}  // namespace reel::front
