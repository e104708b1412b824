// SPDX-License-Identifier: Apache-2.0
// A real reeld with real workers for a test: own data folder, port 0, a log that a failing test
// prints.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/channel.h"
#include "grpcpp/security/credentials.h"
#include "tests/fakes/temp_folder.h"
#include "tests/integration/program.h"

namespace reel::tests {

struct ServerSetup {
  // Textproto. If it names no model, the test card is served. If it sets no data.max_bytes, the
  // data folder may hold 1 GB: the default, a share of the disk, refuses jobs on a disk that is
  // nearly full.
  std::string config;
  std::vector<std::string> flags;
  std::string data_folder;  // empty: one of its own; set: shared with another start
  bool wait_ready = true;   // until a worker takes work
};

class ReelServer {
 public:
  // Fails the test at once when reeld does not come up.
  explicit ReelServer(ServerSetup setup = {});
  // Ends what is still alive; prints the log's tail when the test failed.
  ~ReelServer();
  ReelServer(const ReelServer&) = delete;
  ReelServer& operator=(const ReelServer&) = delete;

  // A connection of its own.
  std::shared_ptr<grpc::Channel> Connect(
      const std::shared_ptr<grpc::ChannelCredentials>& credentials =
          grpc::InsecureChannelCredentials()) const;
  const std::string& address() const { return grpc_; }
  const std::string& metrics_address() const { return metrics_; }
  const std::string& http_address() const { return http_; }      // empty unless configured
  const std::string& health_address() const { return health_; }  // empty unless configured
  const std::string& fleet_address() const { return fleet_; }    // empty unless configured
  const std::string& data_folder() const { return setup_.data_folder; }

  void Signal(int signal) const { program_->Signal(signal); }
  // Another configuration, which it reads at once.
  void Reconfigure(const std::string& config);
  // The exit status, or minus the signal that ended it.
  absl::StatusOr<int> WaitForExit(absl::Duration timeout = kPatience) {
    return program_->WaitForExit(timeout);
  }
  bool Alive() { return program_->Alive(); }
  pid_t pid() const { return program_->pid(); }

  std::vector<pid_t> Children() const;
  int64_t MemoryBytes() const;  // resident, of reeld alone
  std::string Log() const { return program_->Errors(); }
  // HTTP GET on the metrics address: body, empty unless 200.
  std::string Get(const std::string& path) const;
  // Samples of a scrape: `name{labels}` to value.
  std::map<std::string, double> Scrape() const;
  // Sum of all samples of a family whose labels contain `label` (e.g. outcome="ok").
  double Metric(const std::string& family, const std::string& label = "") const;

 private:
  // Writes the configuration with what every test wants; its path.
  std::string WriteConfig();
  void ReadPorts();

  testing::TempFolder folder_;
  ServerSetup setup_;
  std::unique_ptr<Program> program_;
  std::string grpc_, metrics_, health_, http_, fleet_;
};

// A configuration whose test card takes `step_ms` a step.
std::string SlowConfig(int step_ms);
// One whose test card fails at `step` of videos whose prompt has `prompt` in it.
std::string FaultyConfig(const std::string& kind, int step, const std::string& prompt,
                         int step_ms = 20);

}  // namespace reel::tests
