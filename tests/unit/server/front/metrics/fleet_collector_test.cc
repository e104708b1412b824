// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "server/front/metrics/collectors.h"
#include "server/front/metrics/metrics.h"

namespace reel::front {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

FleetStatus Sample() {
  FleetStatus status;
  status.fleet = "prod";
  FleetStatus::Node node;
  node.name = "a";
  node.build = "1";
  status.nodes.push_back(node);
  node.name = "b";
  node.build = "2";
  node.state = FleetStatus::NodeState::kDraining;
  status.nodes.push_back(node);
  node.name = "c";
  node.build = "3";
  node.state = FleetStatus::NodeState::kSilent;
  status.nodes.push_back(node);
  status.backlog["big"] = {2, 1, 3, 12.5};
  status.log.connected = true;
  status.log.position = 40;
  status.log.newest = 42;
  status.log.behind = absl::Milliseconds(500);
  status.log.versions = {"2.10.29"};
  status.log.voids["wrong_epoch"] = 7;
  status.log.unknown = 3;
  status.claims.won = 5;
  status.claims.takeovers = 1;
  status.claims.superseded = 2;
  status.claims.releases[static_cast<size_t>(ReleaseReason::kLease)] = 4;
  status.clock.skew = absl::Milliseconds(-1500);
  status.unfit[static_cast<size_t>(Unfit::kName)] = true;
  return status;
}

std::string Text(const FleetStatus& status) {
  Metrics metrics({"1", "r", {}, {}});
  metrics.WatchFleet([&] { return status; });
  return metrics.Text();
}

TEST(FleetCollector, AServerThatIsAloneHasNoSeries) {
  Metrics metrics({"1", "r", {}, {}});
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("reel_fleet")));
}

TEST(FleetCollector, ShowsWhatTheServerSees) {
  const std::string text = Text(Sample());
  for (const char* line : {"reel_fleet_nodes{state=\"serving\"} 1\n",
                           "reel_fleet_nodes{state=\"draining\"} 1\n",
                           "reel_fleet_nodes{state=\"silent\"} 1\n",
                           "reel_fleet_nodes{state=\"left\"} 0\n",
                           "reel_fleet_builds 2\n",
                           "reel_fleet_backlog_seconds{model=\"big\"} 12.5\n",
                           "reel_fleet_ready_devices{model=\"big\"} 3\n",
                           "reel_fleet_videos{model=\"big\",state=\"queued\"} 2\n",
                           "reel_fleet_videos{model=\"big\",state=\"claimed\"} 1\n",
                           "reel_fleet_log_connected 1\n",
                           "reel_fleet_log_answers 0\n",
                           "reel_fleet_log_position 40\n",
                           "reel_fleet_log_behind_messages 2\n",
                           "reel_fleet_log_behind_seconds 0.5\n",
                           "reel_fleet_broker_info{version=\"2.10.29\"} 1\n",
                           "reel_fleet_void_messages_total{reason=\"wrong_epoch\"} 7\n",
                           "reel_fleet_void_messages_total{reason=\"ended\"} 0\n",
                           "reel_fleet_publishes_total{result=\"unknown\"} 3\n",
                           "reel_fleet_claims_total{result=\"won\"} 5\n",
                           "reel_fleet_takeovers_total 1\n",
                           "reel_fleet_superseded_total 2\n",
                           "reel_fleet_releases_total{reason=\"lease\"} 4\n",
                           "reel_fleet_releases_total{reason=\"shutdown\"} 0\n",
                           "reel_fleet_unfit{reason=\"disk\"} 0\n",
                           "reel_fleet_unfit{reason=\"name\"} 1\n",
                           "reel_fleet_unfit{reason=\"clock\"} 0\n",
                           "reel_fleet_clock_skew_seconds -1.5\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("reel_fleet_upload")));
}

TEST(FleetCollector, ShowsUploadsWhereThereIsAStore) {
  FleetStatus status = Sample();
  status.uploads = {true, false, 3, 32, 4096, 9, 1, 6};
  const std::string text = Text(status);
  for (const char* line :
       {"reel_fleet_store_up 0\n", "reel_fleet_uploads_waiting 3\n",
        "reel_fleet_uploads_waiting_bytes 4096\n", "reel_fleet_uploads_waiting_limit 32\n",
        "reel_fleet_uploads_total{result=\"stored\"} 9\n",
        "reel_fleet_uploads_total{result=\"given_up\"} 1\n",
        "reel_fleet_upload_failures_total 6\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(FleetCollector, SeriesOfModelsAreBounded) {
  FleetStatus status = Sample();
  for (int i = 0; i < 1000; ++i) status.backlog["m" + std::to_string(i)] = {};
  const std::string text = Text(status);
  size_t count = 0;
  for (size_t at = 0; (at = text.find("reel_fleet_backlog_seconds{", at)) != std::string::npos;
       ++at) {
    ++count;
  }
  EXPECT_EQ(count, 32U);
}

}  // namespace
}  // namespace reel::front
