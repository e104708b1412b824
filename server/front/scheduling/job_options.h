// SPDX-License-Identifier: Apache-2.0
// Options of jobs from the configuration, checked where that is read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "model/load_options.h"
#include "model/resolve.h"

namespace reel::front {

struct TenantOptions {
  double weight = 1;                     // share of device time against others
  int max_jobs = 256;                    // queued or running
  double device_seconds_per_hour = 0;    // 0: unlimited
  int64_t max_stored_bytes = 0;          // 0: unlimited
  double max_queued_device_seconds = 0;  // predicted, of queued and running jobs; 0 for unlimited
};

// A configured name for a kernel selection.
struct KernelProfileOptions {
  std::string name;
  std::string base = "auto";  // a built-in profile
  std::map<std::string, std::string> variants;
};

// Where a model comes from.
struct ModelSource {
  model::LoadOptions load;
  std::vector<std::string> workers;  // workers that have it; empty for all

  friend bool operator==(const ModelSource&, const ModelSource&) = default;
};

// An adapter that requests may name.
struct RegisteredAdapter {
  model::AdapterOffer offer;
  std::vector<std::string> models;  // models that it is for; empty for all

  friend bool operator==(const RegisteredAdapter&, const RegisteredAdapter&) = default;
};

// One side of an experiment.
struct ExperimentArm {
  std::string name;
  std::string profile;
  double share = 0.5;  // of the participating requests; all arms sum to 1
};

// An A/B test of kernel profiles on the traffic.
struct ExperimentOptions {
  std::string name;
  std::string model;  // the only participating model; empty for all
  double share = 0;   // of the requests that leave their kernels open
  std::vector<ExperimentArm> arms;
  double shadow_share = 0;  // share of its videos that are rendered again on the other arm
};

// States that finished videos keep for requests that continue them.
struct StateOptions {
  // Whether to keep states if a request does not say: of drafts, of every video, or never, even on
  // request.
  enum class Keep { kOnRequest, kAlways, kNever };
  Keep keep = Keep::kOnRequest;
  absl::Duration max_age = absl::InfiniteDuration();  // the video may expire sooner
  int64_t max_bytes = int64_t{256} << 20;             // of one
};

struct JobOptions {
  std::string build;    // of this program: what costs were learned by another is a guess
  std::string replica;  // first part of ids, [a-z0-9]; empty: random (video_id.h)
  bool alone = false;   // videos of every name that this folder has had are in its own log
  std::vector<ModelSource> models;  // default first
  std::vector<RegisteredAdapter> adapters;
  std::map<std::string, TenantOptions> tenants;
  TenantOptions other_tenants;  // for tenants that are not named
  std::vector<KernelProfileOptions> kernel_profiles;
  std::vector<ExperimentOptions> experiments;
  model::RequestLimits limits;

  double max_backlog_seconds = 120;  // predicted, per device
  int max_queued_jobs = 1000;
  int64_t fill_rows = 8192;
  bool fifo = false;  // one job at a time, in order of arrival

  absl::Duration default_timeout = absl::Minutes(10);
  absl::Duration max_timeout = absl::Minutes(30);
  absl::Duration heartbeat = absl::Seconds(5);
  absl::Duration keep = absl::Hours(24);  // of finished videos
  absl::Duration keep_failed = absl::Hours(1);
  StateOptions state;
};

inline const TenantOptions& TenantOf(const JobOptions& options, const std::string& tenant) {
  const auto found = options.tenants.find(tenant);
  return found == options.tenants.end() ? options.other_tenants : found->second;
}

}  // namespace reel::front
