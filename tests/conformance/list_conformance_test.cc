// SPDX-License-Identifier: Apache-2.0
// Lists: every video once, newest first, page by page, whatever comes and goes meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <vector>

#include "tests/conformance/caller.h"
#include "tests/conformance/service.h"

namespace reel::tests {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

class List : public Conformance {
 protected:
  Service& service() { return Shared({.step_ms = 10}); }
  // Finished, oldest first.
  static std::vector<std::string> Make(Caller& caller, int videos) {
    std::vector<std::string> names;
    for (int i = 0; i < videos; ++i) names.push_back(caller.Create(SmallSpec("x")).video.name());
    for (const std::string& name : names) caller.Await(name);
    return names;
  }
  static std::vector<std::string> Reversed(const std::vector<std::string>& names) {
    return {names.rbegin(), names.rend()};
  }
};

TEST_P(List, PagesShowEveryVideoOnceNewestFirst) {
  Caller caller(service().server());
  const std::vector<std::string> before = caller.Names();
  const std::vector<std::string> names = Make(caller, 7);
  std::vector<std::string> all = Reversed(names);
  all.insert(all.end(), before.begin(), before.end());
  for (const int size : {1, 3, 7, 200, 1000}) EXPECT_EQ(caller.Names(size), all) << size;
  EXPECT_EQ(caller.List(0).videos.size(), std::min<size_t>(all.size(), 50));
  EXPECT_EQ(caller.List(-1).status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_P(List, ShowsTheStatesThatItIsAskedFor) {
  Service service(GetParam(), {.step_ms = 100, .more = "scheduler { order: 'fifo' fill_rows: 1 }"});
  Caller caller(service.server());
  const std::string done = Make(caller, 1)[0];
  const std::string runs = caller.Create(Steps("runs", 100)).video.name();
  caller.AwaitStep(runs);
  std::vector<std::string> more;
  for (int i = 0; i < 4; ++i) more.push_back(caller.Create(Steps("waits", 100)).video.name());
  EXPECT_TRUE(caller.Cancel(more[3]).ok());
  caller.Await(more[3]);
  EXPECT_THAT(caller.Names(200, {v1::VIDEO_STATE_QUEUED}), ElementsAre(more[2], more[1], more[0]));
  EXPECT_THAT(caller.Names(1, {v1::VIDEO_STATE_QUEUED}), ElementsAre(more[2], more[1], more[0]));
  EXPECT_THAT(caller.Names(200, {v1::VIDEO_STATE_RUNNING}), ElementsAre(runs));
  EXPECT_THAT(caller.Names(200, {v1::VIDEO_STATE_CANCELLED}), Contains(more[3]));
  EXPECT_THAT(caller.Names(200, {v1::VIDEO_STATE_FAILED}), Not(Contains(more[3])));
  EXPECT_THAT(caller.Names(200, {v1::VIDEO_STATE_SUCCEEDED}), Contains(done));
  EXPECT_THAT(caller.Names(200, {v1::VIDEO_STATE_SUCCEEDED, v1::VIDEO_STATE_RUNNING}),
              ::testing::AllOf(Contains(done), Contains(runs), Not(Contains(more[0]))));
  for (const v1::VideoState state : {v1::VIDEO_STATE_QUEUED, v1::VIDEO_STATE_RUNNING}) {
    for (const v1::Video& video : caller.List(200, "", {state}).videos) {
      EXPECT_EQ(video.state(), state) << video.name();
    }
  }
  EXPECT_TRUE(caller.Cancel(runs).ok());
  caller.Await(runs);
  EXPECT_THAT(caller.Names(200, {v1::VIDEO_STATE_CANCELLED}), ElementsAre(more[3], runs));
}

TEST_P(List, APageGoesOnWhereTheOneBeforeEndedWhateverComesAndGoes) {
  Caller caller(service().server());
  const std::vector<std::string> names = Make(caller, 6);
  const Page first = caller.List(2);
  EXPECT_THAT(NamesOf(first.videos), ElementsAre(names[5], names[4]));
  const std::string newer = Make(caller, 1)[0];
  // The one that the token names, one that was shown, and one that was not.
  for (const int gone : {4, 5, 2})
    EXPECT_TRUE(caller.Delete(names[static_cast<size_t>(gone)]).ok());
  const Page second = caller.List(2, first.next);
  EXPECT_THAT(NamesOf(second.videos), ElementsAre(names[3], names[1]));
  EXPECT_THAT(NamesOf(caller.List(1, second.next).videos), ElementsAre(names[0]));
  EXPECT_THAT(NamesOf(caller.List(1).videos), ElementsAre(newer));
}

TEST_P(List, ATokenOfAnotherListIsRefused) {
  Caller caller(service().server());
  Make(caller, 2);
  const Page page = caller.List(1);
  ASSERT_FALSE(page.next.empty());
  const Page filtered = caller.List(1, page.next, {v1::VIDEO_STATE_FAILED});
  EXPECT_EQ(ReasonOf(filtered.status), "INVALID_REQUEST");
  EXPECT_THAT(ViolatedFields(filtered.status), ElementsAre("page_token"));
  std::string damaged = page.next;
  damaged[damaged.size() / 2] = damaged[damaged.size() / 2] == 'A' ? 'B' : 'A';
  EXPECT_EQ(ReasonOf(caller.List(1, damaged).status), "INVALID_REQUEST");
}

TEST_P(List, PromptsAreCutAndStatisticsLeftOut) {
  Caller caller(service().server());
  const std::string name = caller.Create(SmallSpec(std::string(1000, 'p'))).video.name();
  caller.Await(name);
  const Page page = caller.List(1);
  ASSERT_EQ(page.videos.size(), 1U);
  EXPECT_EQ(page.videos[0].name(), name);
  EXPECT_LE(page.videos[0].spec().prompt().size(), 260U);
  EXPECT_FALSE(page.videos[0].has_stats());
  EXPECT_EQ(caller.Get(name).video.spec().prompt().size(), 1000U);
}

TEST_P(List, GoesOnAfterARestart) {
  Service service(GetParam(), {.step_ms = 10});
  std::vector<std::string> names;
  Page first;
  {
    Caller caller(service.server());
    names = Make(caller, 5);
    first = caller.List(2);
    EXPECT_TRUE(caller.Delete(names[1]).ok());
  }
  for (const int signal : {SIGTERM, SIGKILL}) {
    service.Restart(signal);
    Caller caller(service.server());
    EXPECT_THAT(caller.Names(), ElementsAre(names[4], names[3], names[2], names[0]));
    const Page second = caller.List(1, first.next);
    EXPECT_THAT(NamesOf(second.videos), ElementsAre(names[2]));
    EXPECT_THAT(NamesOf(caller.List(5, second.next).videos), ElementsAre(names[0]));
    EXPECT_THAT(caller.Names(200, {v1::VIDEO_STATE_RUNNING}), IsEmpty());
  }
}

REEL_EVERY_LIFE(List);

}  // namespace
}  // namespace reel::tests
