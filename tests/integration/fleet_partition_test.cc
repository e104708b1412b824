// SPDX-License-Identifier: Apache-2.0
// Networks that fail in one direction or both, between a node and the broker, and between nodes: a
// network of the test's own, where packets are dropped. It wants the right to make one, else it
// skips. By hand: ctest --test-dir build/release -L soak -R fleet_partition_soak -V
#include <gtest/gtest.h>
#include <sched.h>

#include "tests/integration/cutting_proxy.h"
#include "tests/integration/fleet_whole_site.h"

namespace reel::tests {
namespace {

bool Succeeds(const std::string& program, const std::vector<std::string>& arguments) {
  return RunProgram(program, arguments).status == 0;
}

std::string PortOf(const std::string& address) { return address.substr(address.rfind(':') + 1); }

class FleetPartitionTest : public FleetWholeSite {
 protected:
  void SetUp() override {
    // This thread and whatever it starts see nothing of the machine's network from here on.
    static const bool own_network = ::unshare(CLONE_NEWNET) == 0 &&
                                    Succeeds("/usr/sbin/ip", {"link", "set", "lo", "up"}) &&
                                    Succeeds("/usr/sbin/iptables", {"-L"});
    if (!own_network) GTEST_SKIP() << "SKIPPED: no right to make a network here";
    FleetWholeSite::SetUp();
  }
  // From then on; `to`: what is sent to the port, `from`: what it answers.
  void Drop(const std::string& port, bool to, bool from) { Rule("-A", port, to, from); }
  void Heal(const std::string& port, bool to, bool from) { Rule("-D", port, to, from); }

  // The node's way to the broker is cut for so long, again and again.
  void Partition(absl::Duration time) {
    BeginStores(1);
    callers_ask_nodes_ = false;
    CuttingProxy to_broker;
    to_broker.SetTarget(cluster_->address(0));
    broker_urls_["n1"] = "nats://" + to_broker.address();
    for (const char* const node : {"n1", "n2"}) StartNode(node, 50);
    StartGateway("g1");
    FleetCallers callers(addresses_, 2, Clip(20));
    const std::string broker = PortOf(to_broker.address());
    const std::string node = PortOf(At("n1").fleet_address());
    const auto goes_on = [&] {
      const int before = callers.finished();
      return Eventually([&] { return callers.finished() > before + 1; });
    };
    ASSERT_TRUE(goes_on());
    for (const std::string& port : {broker, node}) {
      for (const auto& [to, from] : {std::pair(true, true), {true, false}, {false, true}}) {
        ASSERT_TRUE(Eventually([&] { return At("n1").Metric("reel_inflight_requests") > 0; }));
        Drop(port, to, from);
        absl::SleepFor(time);  // the promise names a time
        Heal(port, to, from);
        ASSERT_TRUE(goes_on());
      }
    }
    const CallersReport report = callers.Stop();
    ExpectNoFaults(report);
    // Of each side's own; a node that cannot be read may keep its video.
    EXPECT_LE(report.most_restarts, 2);
    EXPECT_EQ(Succeeded(), static_cast<double>(report.names.size()));
    std::cout << "FIGURE six partitions of " << time << "\n";
  }

 private:
  static void Rule(const char* change, const std::string& port, bool to, bool from) {
    const auto rule = [&](const char* side) {
      EXPECT_TRUE(
          Succeeds("/usr/sbin/iptables", {change, "INPUT", "-p", "tcp", side, port, "-j", "DROP"}));
    };
    if (to) rule("--dport");
    if (from) rule("--sport");
  }
};

using Long = FleetPartitionTest;
TEST_F(Long, PartitionsDeliverNothingTwice) { Partition(absl::Seconds(3)); }
TEST_F(Long, PartitionsLongerThanTheLeaseDeliverNothingTwice) { Partition(absl::Seconds(10)); }

}  // namespace
}  // namespace reel::tests
