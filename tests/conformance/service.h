// SPDX-License-Identifier: Apache-2.0
// A service that makes videos, as its callers see it: a server that is alone, or the only server of
// a fleet. It keeps its data when it is restarted.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>
#include <utility>

#include "tests/fakes/temp_folder.h"
#include "tests/integration/calls.h"
#include "tests/integration/nats_cluster.h"
#include "tests/integration/reel_server.h"
#include "tests/integration/s3_server.h"

namespace reel::tests {

// What keeps a service's videos. A further one needs a value here, its configuration in
// Service::Config and a line in REEL_EVERY_LIFE.
enum class Life {
  kAlone,  // a log in SQLite, and files
  kFleet,  // a log in NATS and objects in S3
};

struct ServiceSetup {
  int step_ms = 20;         // of the test card
  int drain_ms = 300;       // for what runs at a SIGTERM
  std::string faults = "";  // fields of the test card
  std::string data = "";    // fields of `data`
  std::string timing = "";  // fields of `timing`
  std::string more = "";    // other fields of the configuration
  std::string kept = "";    // a data folder: it begins with a copy
};

class Service {
 public:
  // Returns when a worker takes work.
  explicit Service(Life life, ServiceSetup setup = {});

  // SIGTERM or SIGKILL, and a new process with the same data.
  void Restart(int signal) {
    Stop(signal);
    Start();
  }
  // Returns when the process and its workers are gone. A SIGTERM must end it with status 0.
  void Stop(int signal);
  void Start();
  void KillWorkers() {
    for (const pid_t worker : server().Children()) ::kill(worker, SIGKILL);
  }
  // All files that were sent ahead of requests expire. A lone server is restarted.
  void ExpireFiles();
  // Of the next start.
  void Configure(ServiceSetup setup) { setup_ = std::move(setup); }

  ReelServer& server() { return *server_; }
  // Over a connection of its own.
  Calls Connect() { return Calls(server_->Connect()); }

 private:
  std::string Config() const;

  const Life life_;
  ServiceSetup setup_;
  testing::TempFolder folder_;
  std::unique_ptr<NatsCluster> broker_;
  std::unique_ptr<S3Server> store_;
  std::unique_ptr<ReelServer> server_;
};

// Tests of a suite share a service, which the first of them starts. One that stops it, or needs
// another configuration, makes its own.
class Conformance : public ::testing::TestWithParam<Life> {
 protected:
  void SetUp() override {
    if (GetParam() == Life::kFleet && (NatsServerPath().empty() || S3ServerPath().empty())) {
      GTEST_SKIP() << "SKIPPED: no nats-server or no versitygw here; deploy/build/setup --fleet "
                      "installs them";
    }
  }
  static void TearDownTestSuite() { shared_.reset(); }

  Service& Shared(const ServiceSetup& setup = {}) {
    if (shared_ == nullptr) shared_ = std::make_unique<Service>(GetParam(), setup);
    return *shared_;
  }

 private:
  static inline std::unique_ptr<Service> shared_;
};

#define REEL_EVERY_LIFE(suite)                                             \
  INSTANTIATE_TEST_SUITE_P(Alone, suite, ::testing::Values(Life::kAlone)); \
  INSTANTIATE_TEST_SUITE_P(Fleet, suite, ::testing::Values(Life::kFleet))

}  // namespace reel::tests
