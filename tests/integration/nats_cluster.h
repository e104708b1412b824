// SPDX-License-Identifier: Apache-2.0
// Servers of NATS on free ports of this machine, killed, stopped and started at will.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/fakes/temp_folder.h"
#include "tests/integration/program.h"

namespace reel::tests {

// Of deploy/build/setup --fleet, or the system's; empty: there is none.
std::string NatsServerPath();

struct NatsSetup {
  std::string more;                // of each server's configuration
  std::string scheme = "nats://";  // of its clients
};

// Confined to the test's thread.
class NatsCluster {
 public:
  // Starts all of them; three are one cluster.
  explicit NatsCluster(int servers, NatsSetup setup = {});
  NatsCluster(const NatsCluster&) = delete;
  NatsCluster& operator=(const NatsCluster&) = delete;

  int size() const { return static_cast<int>(servers_.size()); }
  std::vector<std::string> urls() const;
  std::string address(int server) const;
  // Where it keeps its streams.
  std::string DiskOf(int server) const { return folder_.File("data" + std::to_string(server)); }
  void Start(int server);
  void Kill(int server);
  // Returns when it stands still.
  void Pause(int server);
  void Resume(int server);
  // All read another configuration while they run.
  void Reconfigure(const std::string& more);

 private:
  struct Server {
    int port = 0, route = 0;
    std::string config;
    std::unique_ptr<Program> program;
  };

  Program& program(int server) { return *servers_[static_cast<size_t>(server)].program; }
  std::string ConfigOf(int server) const;

  testing::TempFolder folder_;
  NatsSetup setup_;
  std::vector<Server> servers_;
};

}  // namespace reel::tests
