// SPDX-License-Identifier: Apache-2.0
// A reeld of one's own: the built program on free ports over a folder of its own.
#pragma once

#include <grpcpp/grpcpp.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "reel/v1/server_service.grpc.pb.h"
#include "reel/v1/video_service.grpc.pb.h"

namespace reel::server {

// A folder that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class ReeldProcess {
 public:
  // `config`: text of a configuration file, empty for none. Serving when it returns, and a model is
  // ready unless `wait_until_ready` is false.
  ReeldProcess(const std::string& folder, const std::string& config = "",
               bool wait_until_ready = true);
  // Kills what is left.
  ~ReeldProcess();
  ReeldProcess(const ReeldProcess&) = delete;
  ReeldProcess& operator=(const ReeldProcess&) = delete;

  v1::VideoService::Stub& video() { return *video_; }
  v1::ServerService::Stub& server() { return *server_; }
  grpc::health::v1::Health::Stub& health() { return *health_; }
  const std::string& grpc_address() const { return grpc_address_; }
  const std::string& metrics_address() const { return metrics_address_; }

  void Signal(int number) const;
  // The exit status, or minus the signal that ended it.
  int WaitForExit();
  // Process ids of its children: the workers.
  std::vector<pid_t> Workers() const;
  // The body of an HTTP GET at the metrics address; empty when nobody answers.
  std::string Get(const std::string& path) const;

 private:
  void WaitForPorts(const std::string& port_file);
  void WaitForWarmth();

  pid_t pid_ = -1;
  std::optional<int> exit_;
  std::string grpc_address_, metrics_address_;
  std::unique_ptr<v1::VideoService::Stub> video_;
  std::unique_ptr<v1::ServerService::Stub> server_;
  std::unique_ptr<grpc::health::v1::Health::Stub> health_;
};

// Runs reeld to its end; its standard error and exit status.
struct RunResult {
  int exit_status = -1;
  std::string errors;
  absl::Duration took;
};
RunResult RunReeld(const std::vector<std::string>& arguments);

// A configuration whose test card takes `step_ms` a step.
std::string SlowConfig(int step_ms, const std::string& more = "");

// The ErrorInfo reason of a status; empty for none.
std::string ReasonIn(const grpc::Status& status);

}  // namespace reel::server
