// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/nats_cluster.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/integration/free_ports.h"

namespace reel::tests {

std::string NatsServerPath() { return FindTool("nats-server"); }

NatsCluster::NatsCluster(int servers, NatsSetup setup)
    : setup_(std::move(setup)), servers_(static_cast<size_t>(servers)) {
  const std::vector<int> ports = FreePorts(2 * servers_.size());
  for (size_t i = 0; i < servers_.size(); ++i) {
    servers_[i].port = ports[2 * i];
    servers_[i].route = ports[2 * i + 1];
  }
  for (int i = 0; i < servers; ++i) {
    Server& server = servers_[static_cast<size_t>(i)];
    server.config = folder_.Write(absl::StrCat("server", i, ".conf"), ConfigOf(i));
    Start(i);
  }
}

std::string NatsCluster::ConfigOf(int server) const {
  const Server& own = servers_[static_cast<size_t>(server)];
  std::string config = absl::StrCat(
      "server_name: s", server, "\nlisten: 127.0.0.1:", own.port, "\njetstream { store_dir: \"",
      DiskOf(server), "\", max_mem: 16MB, max_file: 512MB, sync_interval: always }\n", setup_.more);
  if (servers_.size() == 1) return config;
  std::vector<std::string> routes;
  for (const Server& other : servers_) {
    routes.push_back(absl::StrCat("nats-route://127.0.0.1:", other.route));
  }
  absl::StrAppend(&config, "cluster { name: reel", servers_[0].route,
                  ", listen: 127.0.0.1:", own.route, ", routes: [ ", absl::StrJoin(routes, ", "),
                  " ] }\n");
  return config;
}

std::vector<std::string> NatsCluster::urls() const {
  std::vector<std::string> urls;
  for (int i = 0; i < size(); ++i) urls.push_back(setup_.scheme + address(i));
  return urls;
}

std::string NatsCluster::address(int server) const {
  return absl::StrCat("127.0.0.1:", servers_[static_cast<size_t>(server)].port);
}

void NatsCluster::Start(int server) {
  Server& own = servers_[static_cast<size_t>(server)];
  own.program =
      std::make_unique<Program>(NatsServerPath(), std::vector<std::string>{"-c", own.config});
}

void NatsCluster::Kill(int server) {
  program(server).Signal(SIGKILL);
  EXPECT_TRUE(program(server).WaitForExit().ok());
}

void NatsCluster::Pause(int server) {
  program(server).Signal(SIGSTOP);
  // The signal stops one thread after another.
  siginfo_t info{};
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(program(server).pid()), &info, WSTOPPED), 0);
}

void NatsCluster::Resume(int server) { program(server).Signal(SIGCONT); }

void NatsCluster::Reconfigure(const std::string& more) {
  setup_.more = more;
  for (int i = 0; i < size(); ++i) {
    folder_.Write(absl::StrCat("server", i, ".conf"), ConfigOf(i));
    program(i).Signal(SIGHUP);
  }
}

}  // namespace reel::tests
