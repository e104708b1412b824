// SPDX-License-Identifier: Apache-2.0
// Answers of reel.v1.ServerService about this server.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>

#include "reel/v1/server_service.pb.h"
#include "server/front/api/request_convert.h"
#include "server/front/jobs/fleet_status.h"
#include "server/front/jobs/job_service.h"

namespace reel::front {

// A fleet as the API shows it.
v1::GetFleetResponse FleetToProto(const FleetStatus& status);
v1::FleetCheck CheckToProto(const FleetCheck& check);

// The HTTP door, where one is open.
struct DoorFacts {
  std::string url;
  bool page = false;
};

struct ServerFacts {
  std::string version, revision;
  std::chrono::steady_clock::time_point started;
  RequestRules rules;
  std::map<std::string, int> max_jobs = {};  // of tenants that are configured
  int max_jobs_of_others = 256;
  // Asked each time: the door opens after the listener that tells of it. Empty: there is none.
  std::function<DoorFacts()> door = nullptr;
};

v1::Worker WorkerToProto(const WorkerInfo& worker, int running);
v1::Model ModelToProto(const ServedModel& served);

// Thread-safe; `jobs` outlives it.
class ServerAnswers {
 public:
  ServerAnswers(const JobService& jobs, ServerFacts facts);

  // With the limits of the caller's tenant.
  void FillInfo(v1::GetServerInfoResponse& response, const std::string& tenant) const;
  void FillModels(v1::ListModelsResponse& response) const;
  void FillKernels(v1::ListKernelsResponse& response) const;
  void FillExperiments(v1::ListExperimentsResponse& response) const;
  void FillFleet(v1::GetFleetResponse& response) const;

 private:
  const JobService& jobs_;
  const ServerFacts facts_;
};

}  // namespace reel::front
