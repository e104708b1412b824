// SPDX-License-Identifier: Apache-2.0
// The operator's view of a fleet over real brokers: `reel fleet`, `reel doctor` and metrics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "nlohmann/json.hpp"
#include "tests/integration/fleet_site.h"

namespace reel::tests {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class FleetStatusTest : public FleetSite {
 protected:
  static ProgramResult Reel(const ReelServer& server, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--server", server.address()});
    return RunProgram(BinaryPath("reel"), std::move(arguments));
  }
  static nlohmann::json FleetOf(const ReelServer& server) {
    const ProgramResult shown = Reel(server, {"--json", "fleet"});
    EXPECT_EQ(shown.status, 0) << shown.errors;
    return nlohmann::json::parse(shown.out, nullptr, false);
  }
  // As that server sees it; empty: not at all.
  static std::string StateOf(const ReelServer& server, const std::string& node) {
    for (const auto& one : FleetOf(server).value("nodes", nlohmann::json::array())) {
      if (one["name"] == node) return one["state"];
    }
    return "";
  }
};

TEST_F(FleetStatusTest, EveryServerShowsTheFleetAndWhoHasDied) {
  ReelServer& a = Add("a");
  ReelServer& gateway = AddGateway("g");
  EXPECT_TRUE(Eventually([&] { return StateOf(gateway, "a") == "FLEET_NODE_STATE_SERVING"; }));
  EXPECT_TRUE(Eventually([&] { return StateOf(a, "g") == "FLEET_NODE_STATE_SERVING"; }));
  ASSERT_TRUE(At(gateway).Generate(Spec("shown")).status.ok());
  EXPECT_TRUE(
      Eventually([&] { return a.Metric("reel_fleet_claims_total", "result=\"won\"") == 1; }));
  EXPECT_EQ(a.Metric("reel_fleet_log_answers"), 1);
  // A claim and an end; what is shown is a second old.
  EXPECT_TRUE(
      Eventually([&] { return a.Metric("reel_fleet_publishes_total", "result=\"won\"") >= 2; }));
  EXPECT_TRUE(Eventually(
      [&] { return gateway.Metric("reel_fleet_ready_devices", "model=\"testcard\"") == 1; }));
  std::string shown;
  EXPECT_TRUE(Eventually([&] {
    shown = Reel(gateway, {"fleet", "--once"}).out;
    return shown.find("read to its end") != std::string::npos;
  })) << shown;
  EXPECT_THAT(shown, AllOf(HasSubstr("prod  2 of 2 servers serve"), ContainsRegex("g\\* +serving"),
                           HasSubstr("0 won")));
  a.Signal(SIGKILL);
  EXPECT_TRUE(Eventually([&] { return StateOf(gateway, "a") == "FLEET_NODE_STATE_SILENT"; }));
  EXPECT_EQ(gateway.Metric("reel_fleet_nodes", "state=\"silent\""), 1);
}

TEST_F(FleetStatusTest, TheDoctorFindsNothingAndThenABrokerThatIsGone) {
  ReelServer& a = Add("a");
  ASSERT_TRUE(Eventually([&] { return Reel(a, {"doctor"}).status == 0; }))
      << Reel(a, {"doctor"}).out;
  const ProgramResult well = Reel(a, {"doctor"});
  EXPECT_THAT(well.out, AllOf(HasSubstr("ok       fleet brokers"), HasSubstr("ok       fleet log"),
                              HasSubstr("may take requests, may render"),
                              HasSubstr("ok       fleet servers: 1 heard")));
  // What was tried to be written is not there.
  EXPECT_EQ(a.Metric("reel_fleet_void_messages_total"), 0);
  cluster_->Kill(0);
  ASSERT_TRUE(Eventually([&] { return a.Metric("reel_fleet_log_connected") == 0; }));
  const ProgramResult ill = Reel(a, {"doctor"});
  EXPECT_EQ(ill.status, 4);
  EXPECT_THAT(ill.out, AllOf(HasSubstr("problem  fleet brokers"),
                             HasSubstr("no NATS server answers"), HasSubstr("Start the brokers")));
}

TEST_F(FleetStatusTest, AServerThatIsAloneSaysSoAndHasNoSeriesOfAFleet) {
  ReelServer server;
  const ProgramResult shown = Reel(server, {"fleet"});
  EXPECT_EQ(shown.status, 0) << shown.errors;
  EXPECT_THAT(shown.out, HasSubstr("no block `fleet`"));
  EXPECT_THAT(Reel(server, {"doctor"}).out, Not(HasSubstr("fleet")));
  EXPECT_THAT(server.Get("/metrics"), Not(HasSubstr("reel_fleet")));
}

}  // namespace
}  // namespace reel::tests
