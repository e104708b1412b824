// SPDX-License-Identifier: Apache-2.0
// Several fleets share a broker, and each sees its own log only.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/front/fleet/nats_port.h"
#include "tests/integration/fleet_log_fixture.h"

namespace reel::tests {
namespace {

class FleetNamesTest : public FleetLogTest {
 protected:
  // As builds before fleets had names at the brokers made and filled it.
  void MakeOldStream(const FleetLog& any, const std::string& video) {
    jsCtx* const jet_stream = any.connection().jet_stream();
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    const char* subjects[] = {front::kOldSubjects};
    config.Name = front::kOldStream;
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    jsErrCode code{};
    ASSERT_EQ(js_AddStream(nullptr, jet_stream, &config, nullptr, &code), NATS_OK) << code;
    const std::string subject = absl::StrCat("reel.j.t.", video, ".q");
    ASSERT_EQ(js_Publish(nullptr, jet_stream, subject.c_str(), "", 0, nullptr, &code), NATS_OK)
        << code;
  }
};

TEST_F(FleetNamesTest, FleetsOfOneBrokerHearNothingOfEachOther) {
  FleetLogOptions other_options = options_;
  other_options.fleet = "studio";
  FleetView view, other_view;
  auto port = front::NatsPort::Open(options_, view);
  ASSERT_TRUE(port.ok()) << port.status();
  auto other = front::NatsPort::Open(other_options, other_view);
  ASSERT_TRUE(other.ok()) << other.status();
  ASSERT_TRUE((*port)->Write(Request(1, "one"), kSoon).ok());
  const auto second = (*other)->Write(Request(1, "two"), kSoon);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->outcome, Outcome::kWon);
  EXPECT_EQ(second->sequence, 1U);
  EXPECT_TRUE(other_view.WaitFor(1, kSoon));
  front::NodeBeat beat;
  beat.node = "n";
  beat.build = "studio's";
  (*other)->SendBeat("n", WriteBeat(beat));
  beat.build = "prod's";
  std::vector<std::string> heard;
  EXPECT_TRUE(Eventually([&] {
    (*port)->SendBeat("n", WriteBeat(beat));
    for (const std::string& bytes : (*port)->TakeBeats()) heard.push_back(bytes);
    return !heard.empty();
  }));
  for (const std::string& bytes : heard) EXPECT_EQ(front::ReadBeat(bytes)->build, "prod's");
}

TEST_F(FleetNamesTest, AnEarlierBuildsStreamWithVideosOfThisFleetIsRefusedWithWords) {
  FleetLogOptions any = options_;
  any.fleet = "any";
  FleetView view;
  const auto log = Open(any, view);
  MakeOldStream(*log, "prod-abc");
  const absl::Status refused = FleetLog::Open(options_, {}, view).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
  EXPECT_TRUE(absl::StrContains(refused.message(), "nats stream rm REEL")) << refused;
  EXPECT_TRUE(absl::StrContains(refused.message(), "REEL_prod")) << refused;
  jsErrCode code{};
  ASSERT_EQ(js_DeleteStream(log->connection().jet_stream(), front::kOldStream, nullptr, &code),
            NATS_OK);
  EXPECT_TRUE(FleetLog::Open(options_, {}, view).ok());
}

TEST_F(FleetNamesTest, AnEarlierBuildsStreamOfAnotherFleetIsLeftAlone) {
  FleetLogOptions any = options_;
  any.fleet = "any";
  FleetView any_view, view;
  const auto log = Open(any, any_view);
  MakeOldStream(*log, "production-abc");
  const auto own = Open(view);
  ASSERT_TRUE(view.WaitFor(Write(*own, 1), kSoon));
  EXPECT_EQ(view.state().jobs.size(), 1U);
  // What a fleet of that name says of its videos the old stream takes in.
  FleetLogOptions taken = options_;
  taken.fleet = "j";
  const absl::Status refused = FleetLog::Open(taken, {}, view).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
  EXPECT_TRUE(absl::StrContains(refused.message(), "fleet.name")) << refused;
}

}  // namespace
}  // namespace reel::tests
