// SPDX-License-Identifier: Apache-2.0
// A real reeld with real workers for a test: own data folder, port 0, log in a file that a failing
// test prints.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/channel.h"

namespace reel::tests {

// A folder that goes with the test.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string path(const std::string& below = "") const;

 private:
  std::string path_;
};

struct ServerSetup {
  std::string config;  // textproto; the test card is served when it names no model
  std::vector<std::string> flags;
  std::string data_folder;  // empty: a scratch folder; set: shared with another start
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

  std::shared_ptr<grpc::Channel> Connect() const;  // a connection of its own
  const std::string& address() const { return grpc_; }
  pid_t pid() const { return pid_; }
  std::string data_folder() const;

  void Signal(int signal) const;
  // The exit status as a shell would see it (128 + signal), or an error after `timeout`.
  absl::StatusOr<int> WaitForExit(absl::Duration timeout);
  bool Alive() const;

  std::vector<pid_t> Children() const;
  int64_t MemoryBytes() const;  // resident, of reeld alone
  std::string Log() const;
  // HTTP GET on the metrics address: body, empty unless 200.
  std::string Get(const std::string& path) const;
  // Samples of a scrape: `name{labels}` to value.
  std::map<std::string, double> Scrape() const;
  // Sum of all samples of a family whose labels contain `label` (e.g. outcome="ok").
  double Metric(const std::string& family, const std::string& label = "") const;

 private:
  ScratchFolder scratch_;
  ServerSetup setup_;
  pid_t pid_ = -1;
  bool reaped_ = false;
  std::string grpc_, metrics_;
};

// Calls `condition` until it holds; false after `timeout`. For what only another process can tell.
bool Eventually(const std::function<bool()>& condition, absl::Duration timeout = absl::Seconds(20));

}  // namespace reel::tests
