// SPDX-License-Identifier: Apache-2.0
// Real servers of one fleet over a real broker: nodes with the test card, and gateways.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/integration/calls.h"
#include "tests/integration/nats_cluster.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {

// At this many milliseconds a step a video is there for long, whatever else the machine does.
inline constexpr int kSlow = 900;
inline constexpr int kSilenceSeconds = 1;

class FleetSite : public ::testing::Test {
 protected:
  void SetUp() override {
    if (NatsServerPath().empty()) {
      GTEST_SKIP() << "SKIPPED: no nats-server here; deploy/build/setup --fleet installs it";
    }
    cluster_ = std::make_unique<NatsCluster>(1);
  }

  // One that renders.
  // `folder`: of its data; empty: one of its own.
  ReelServer& Add(const std::string& node, int step_ms = 10, const std::string& more = "",
                  const std::string& folder = "") {
    ServerSetup setup;
    setup.data_folder = folder;
    return Begin(node,
                 absl::StrCat("models { name: 'testcard' test_card { step_time { nanos: ",
                              step_ms * 1'000'000, " } } }\n"),
                 more, std::move(setup));
  }
  // One without devices.
  ReelServer& AddGateway(const std::string& node, bool wait_ready = true,
                         const std::string& folder = "") {
    ServerSetup setup;
    setup.wait_ready = wait_ready;
    setup.data_folder = folder;
    return Begin(node, "", " gateway: true", std::move(setup));
  }
  // One whose worker sends 40 MiB for every video at once.
  ReelServer& AddFlood(const std::string& node) {
    ServerSetup setup;
    setup.flags = {"--worker_binary", BinaryPath("../tests/flood-worker")};
    return Begin(node,
                 "models { name: 'flood' test_card {} } workers { name: 'flood' device: 'cpu' }\n",
                 "", std::move(setup));
  }
  static Calls At(const ReelServer& server) { return Calls(server.Connect()); }
  static v1::VideoSpec Spec(const std::string& prompt) {
    v1::VideoSpec spec = SmallSpec(prompt);
    spec.set_num_inference_steps(20);
    return spec;
  }

  std::unique_ptr<NatsCluster> cluster_;
  std::map<std::string, std::unique_ptr<ReelServer>> servers_;

 private:
  ReelServer& Begin(const std::string& node, const std::string& models, const std::string& more,
                    ServerSetup setup) {
    setup.config = absl::StrCat(
        models, "data { max_bytes: 1000000000 }\n timing { drain { seconds: 1 } }\n",
        "fleet { name: 'prod' node: '", node, "' listen: '127.0.0.1:0'", " nats { urls: '",
        absl::StrJoin(cluster_->urls(), "' urls: '"), "' max_bytes: 67108864 }",
        " beat { nanos: 200000000 } silence { seconds: ", kSilenceSeconds,
        " } lease { seconds: 4 }", more, " }\n");
    setup.flags.push_back("--http=127.0.0.1:0");
    auto& server = servers_[node];
    server = std::make_unique<ReelServer>(std::move(setup));
    return *server;
  }
};

}  // namespace reel::tests
