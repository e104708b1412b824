// SPDX-License-Identifier: Apache-2.0
// The fleet's log over one real broker.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/front/fleet/fleet_view.h"
#include "server/front/fleet/nats_port.h"
#include "tests/fakes/temp_folder.h"
#include "tests/integration/nats_cluster.h"

namespace reel::tests {

using front::FleetLog;
using front::FleetLogOptions;
using front::FleetView;
using Outcome = front::WriteResult::Outcome;

inline constexpr absl::Duration kSoon = absl::Seconds(20);

class FleetLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (NatsServerPath().empty()) {
      GTEST_SKIP() << "SKIPPED: no nats-server here; deploy/build/setup --fleet installs it";
    }
    cluster_ = std::make_unique<NatsCluster>(1);
    options_.urls = cluster_->urls();
    options_.fleet = "prod";
    options_.max_bytes = 64 << 20;
  }

  std::unique_ptr<FleetLog> Open(front::LogReader& reader, front::TailStart start = {}) {
    return Open(options_, reader, start);
  }
  std::unique_ptr<FleetLog> Open(const FleetLogOptions& options, front::LogReader& reader,
                                 front::TailStart start = {}) {
    std::unique_ptr<FleetLog> log;
    EXPECT_TRUE(Eventually([&] {
      auto opened = FleetLog::Open(options, start, reader);
      if (opened.ok()) log = *std::move(opened);
      return log != nullptr;
    }));
    return log;
  }

  static front::LogWrite Request(int video, const std::string& id) {
    return {absl::StrCat("j.t.v", video, ".q"), "", id};
  }
  static uint64_t Write(const FleetLog& log, int video) {
    const auto result = log.writer().Write(Request(video, absl::StrCat("q", video)), kSoon);
    EXPECT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->outcome, Outcome::kWon);
    return result->sequence;
  }

  reel::testing::TempFolder folder_;
  std::unique_ptr<NatsCluster> cluster_;
  FleetLogOptions options_;
};

}  // namespace reel::tests
