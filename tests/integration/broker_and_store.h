// SPDX-License-Identifier: Apache-2.0
// Tests over a real broker that want a real object store too.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "tests/integration/nats_cluster.h"
#include "tests/integration/s3_server.h"

namespace reel::tests {

class BrokerAndStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (NatsServerPath().empty() || S3ServerPath().empty()) {
      GTEST_SKIP() << "SKIPPED: no nats-server or no versitygw here; deploy/build/setup --fleet "
                      "installs them";
    }
    cluster_ = std::make_unique<NatsCluster>(1);
  }

  std::unique_ptr<NatsCluster> cluster_;
};

}  // namespace reel::tests
