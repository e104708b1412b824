// SPDX-License-Identifier: Apache-2.0
// A whole fleet on one machine: brokers, a store of objects, nodes with the test card, gateways.
// Any of it is killed, stopped and started again at will.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "tests/integration/broker_and_store.h"
#include "tests/integration/calls.h"
#include "tests/integration/fleet_callers.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {

// Short, so that a test is; the bars are in terms of it.
inline constexpr int kWholeSilenceSeconds = 1;  // unless a test says another

class FleetWholeSite : public BrokerAndStoreTest {
 protected:
  // Before the servers.
  void BeginStores(int brokers, bool with_store = true) {
    if (brokers != 1) cluster_ = std::make_unique<NatsCluster>(brokers);
    if (with_store) store_ = std::make_unique<S3Server>();
  }
  // One that renders, at its place; again: on the disk that it had.
  ReelServer& StartNode(const std::string& node, int step_ms) {
    steps_[node] = step_ms;
    return Start(node,
                 absl::StrCat("models { name: 'testcard' test_card { step_time { nanos: ",
                              step_ms * 1'000'000, " } } }\n"),
                 "");
  }
  ReelServer& StartGateway(const std::string& node) { return Start(node, "", " gateway: true"); }
  void Restart(const std::string& node) {
    if (const auto step = steps_.find(node); step != steps_.end()) {
      StartNode(node, step->second);
    } else {
      StartGateway(node);
    }
  }
  void Kill(const std::string& node) {
    addresses_.Remove(node);
    ReelServer& server = *servers_[node];
    server.Signal(SIGKILL);
    EXPECT_TRUE(server.WaitForExit().ok());
  }
  // In good order, as an update replaces it.
  void Replace(const std::string& node) {
    addresses_.Remove(node);
    ReelServer& server = *servers_[node];
    server.Signal(SIGTERM);
    const auto exit = server.WaitForExit();
    EXPECT_TRUE(exit.ok() && *exit == 0) << node;
    Restart(node);
  }
  std::string DiskOf(const std::string& node) const { return folder_.File(node); }
  static Calls At(const ReelServer& server) { return Calls(server.Connect()); }
  ReelServer& At(const std::string& node) { return *servers_[node]; }
  // A node that renders now; empty: none does.
  std::string WhoRenders() {
    for (const auto& [node, step] : steps_) {
      if (servers_[node]->Metric("reel_inflight_requests") > 0) return node;
    }
    return "";
  }
  // Ends that counted, over the servers that are there and those that were replaced.
  double Succeeded() {
    double sum = 0;
    for (const auto& [node, server] : servers_) {
      sum += server->Metric("reel_requests_total", "outcome=\"ok\"");
    }
    return sum;
  }
  static v1::VideoSpec Clip(int steps) {
    v1::VideoSpec spec = SmallSpec("whole");
    spec.set_num_inference_steps(steps);
    return spec;
  }
  void ExpectNoFaults(const CallersReport& report) {
    EXPECT_TRUE(report.faults.empty()) << absl::StrJoin(report.faults, "\n");
    std::cout << "FIGURE " << report.ToString() << "\n";
  }

  testing::TempFolder folder_;  // the servers' disks
  std::unique_ptr<S3Server> store_;
  FleetAddresses addresses_;  // of those that callers ask
  bool callers_ask_nodes_ = true;
  int silence_seconds_ = kWholeSilenceSeconds, lease_seconds_ = 4;
  std::string more_config_;                         // of every server
  std::map<std::string, std::string> broker_urls_;  // of nodes that have a way of their own
  std::map<std::string, std::unique_ptr<ReelServer>> servers_;

 private:
  ReelServer& Start(const std::string& node, const std::string& models, const std::string& more) {
    std::string objects;
    if (store_ != nullptr) {
      objects =
          absl::StrCat(" objects { endpoint: '", store_->endpoint(),
                       "' bucket: 'reel' credentials_file: '", store_->credentials_file(), "' }");
    }
    ServerSetup setup;
    setup.config = absl::StrCat(
        models, more_config_, "data { max_bytes: 1000000000 }\n timing { drain { seconds: 1 } }\n",
        "fleet { name: 'prod' node: '", node, "' listen: '127.0.0.1:0' nats { urls: '",
        broker_urls_.contains(node) ? broker_urls_[node]
                                    : absl::StrJoin(cluster_->urls(), "' urls: '"),
        "' max_bytes: 67108864 replicas: ", cluster_->size(), " }", objects,
        " beat { nanos: 200000000 } silence { seconds: ", silence_seconds_,
        " } lease { seconds: ", lease_seconds_, " }", more, " }\n");
    setup.data_folder = DiskOf(node);
    auto& server = servers_[node];
    server.reset();  // its folder is one process's
    server = std::make_unique<ReelServer>(setup);
    if (callers_ask_nodes_ || !steps_.contains(node)) addresses_.Set(node, server->address());
    return *server;
  }

  std::map<std::string, int> steps_;  // of nodes, in milliseconds
};

}  // namespace reel::tests
