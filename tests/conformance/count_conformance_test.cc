// SPDX-License-Identifier: Apache-2.0
// Several videos of one call: all of them or none, each as if it had been asked for alone, whoever
// dies meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/conformance/caller.h"
#include "tests/conformance/service.h"

namespace reel::tests {
namespace {

using ::testing::HasSubstr;

v1::CreateVideoRequest Several(int count, const v1::VideoSpec& spec,
                               const std::string& id = NewRequestId()) {
  v1::CreateVideoRequest request;
  *request.mutable_spec() = spec;
  request.mutable_spec()->set_seed(7);
  request.set_request_id(id);
  request.set_count(count);
  return request;
}

class Count : public Conformance {};

TEST_P(Count, EachIsTheVideoOfItsSeed) {
  Service& service = Shared();
  Caller caller(service.server());
  v1::CreateVideoRequest request = Several(3, SmallSpec("several"));
  request.mutable_spec()->set_seed(~uint64_t{0});
  const Answer made = caller.Create(request);
  ASSERT_TRUE(made.ok()) << made.status.error_message();
  ASSERT_EQ(made.videos.size(), 3U);
  EXPECT_EQ(made.video.name(), made.videos[0].name());
  EXPECT_EQ(
      std::set<std::string>({made.videos[0].name(), made.videos[1].name(), made.videos[2].name()})
          .size(),
      3U);
  for (size_t i = 0; i < made.videos.size(); ++i) {
    const v1::Video video = caller.Await(made.videos[i].name());
    ASSERT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.DebugString();
    v1::VideoSpec alone = request.spec();
    alone.set_seed(i == 0 ? ~uint64_t{0} : i - 1);
    EXPECT_EQ(video.spec().seed(), alone.seed());
    const v1::Video single = caller.Await(caller.Create(alone).video.name());
    EXPECT_EQ(video.media().sha256(), single.media().sha256());
    EXPECT_GT(video.stats().device_seconds(), 0) << "it is billed as itself";
  }
}

TEST_P(Count, IsOneToSixteenAndNotForStreams) {
  Service& service = Shared();
  Caller caller(service.server());
  for (const int count : {-1, 17}) {
    const Answer refused = caller.Create(Several(count, SmallSpec("x")));
    EXPECT_EQ(refused.reason(), "INVALID_REQUEST");
    EXPECT_THAT(refused.status.error_message(), HasSubstr("count"));
  }
  const Answer one = caller.Create(Several(1, SmallSpec("x")));
  EXPECT_EQ(one.videos.size(), 1U);
  const Answer unset = caller.Create(Several(0, SmallSpec("x")));
  EXPECT_TRUE(unset.videos.empty()) << "as it ever was";
}

TEST_P(Count, AHundredCallsOfOneIdMakeOneSet) {
  Service& service = Shared();
  const std::string id = NewRequestId();
  std::vector<std::thread> threads;
  std::vector<std::string> seen(100);
  for (size_t t = 0; t < seen.size(); ++t) {
    threads.emplace_back([&, t] {
      Caller caller(service.server());
      const Answer made = caller.Create(Several(4, SmallSpec("once"), id));
      EXPECT_TRUE(made.ok()) << made.status.error_message();
      for (const v1::Video& video : made.videos) seen[t] += video.name() + " ";
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 1U);
  Caller caller(service.server());
  EXPECT_EQ(caller.Create(Several(3, SmallSpec("once"), id)).reason(), "REQUEST_ID_CONFLICT");
  EXPECT_EQ(caller.Create(SmallSpec("once"), id).reason(), "REQUEST_ID_CONFLICT");
}

TEST_P(Count, BeyondAQuotaNoneIsStarted) {
  Service service(GetParam(),
                  {.step_ms = 50, .more = "auth { tenants { name: 'default' max_jobs: 5 } }"});
  Caller caller(service.server());
  const v1::VideoSpec spec = Steps("many", 40);
  ASSERT_TRUE(caller.Create(Several(3, spec)).ok());
  const Answer refused = caller.Create(Several(3, spec));
  EXPECT_EQ(refused.reason(), "TENANT_QUOTA");
  EXPECT_THAT(refused.status.error_message(), HasSubstr("video 3 of 3"));
  EXPECT_EQ(caller.Names().size(), 3U);
  EXPECT_TRUE(caller.Create(Several(2, spec)).ok());
  EXPECT_EQ(caller.Names().size(), 5U);
}

// The caller asks until it is answered, as clients do. It kills at a moment of each round's own:
// before, while and after the call is written.
TEST_P(Count, KillsLeaveAllOfACallOrNone) {
  constexpr int kRounds = 8, kCount = 5;
  Service service(GetParam(), {.step_ms = 1});
  std::vector<std::string> ids;
  std::vector<std::vector<std::string>> answered;
  for (int round = 0; round < kRounds; ++round) {
    ids.push_back(NewRequestId());
    {
      Caller caller(service.server());
      std::atomic<bool> asks = false;
      std::thread asking([&] {
        asks = true;
        caller.Create(Several(kCount, SmallSpec("killed"), ids.back()));
      });
      while (!asks) std::this_thread::yield();
      // What else is asked meanwhile is another moment of the call.
      Caller other(service.server());
      for (int i = 0; i < round; ++i) other.Get("videos/none");
      service.Stop(SIGKILL);
      asking.join();
    }
    service.Start();
    Caller caller(service.server());
    EXPECT_EQ(caller.Names().size() % kCount, 0U) << "half a call is left";
    const Answer made = caller.Create(Several(kCount, SmallSpec("killed"), ids.back()));
    ASSERT_TRUE(made.ok()) << made.status.error_message();
    ASSERT_EQ(made.videos.size(), static_cast<size_t>(kCount));
    EXPECT_EQ(caller.Names().size(), static_cast<size_t>(kCount * (round + 1)));
    answered.push_back(NamesOf(made.videos));
  }
  Caller caller(service.server());
  for (size_t round = 0; round < ids.size(); ++round) {
    const Answer again = caller.Create(Several(kCount, SmallSpec("killed"), ids[round]));
    EXPECT_EQ(NamesOf(again.videos), answered[round]);
    for (const std::string& name : answered[round]) {
      EXPECT_EQ(caller.Await(name).state(), v1::VIDEO_STATE_SUCCEEDED);
    }
  }
}

REEL_EVERY_LIFE(Count);

}  // namespace
}  // namespace reel::tests
