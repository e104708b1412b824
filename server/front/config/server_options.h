// SPDX-License-Identifier: Apache-2.0
// The configuration as the program uses it: every default filled, every rule checked, never changed
// afterwards. app.cc hands slices of it to constructors.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "kernels/dispatch/plugin_source.h"
#include "model/registry.h"
#include "server/front/config/address.h"
#include "server/front/config/collector_address.h"

namespace reel::config::v1 {
class ServerConfig;
}

namespace reel::front {

struct TlsOptions {
  std::string certificate_file, key_file;  // empty: no TLS
  std::string client_ca_file;              // set: clients must present a certificate of it
  bool enabled() const { return !certificate_file.empty(); }
};

struct ConfiguredTenant {
  std::string name;
  double weight = 1;
  int max_jobs = 256;
  double device_seconds_per_hour = 0;    // 0: unlimited
  int64_t max_stored_bytes = 0;          // 0: unlimited
  double max_queued_device_seconds = 0;  // predicted, of queued and running jobs; 0: unlimited
};

struct AuthOptions {
  std::string tokens_file;  // empty: everybody is the tenant "default"
  std::vector<ConfiguredTenant> tenants;
};

struct DataOptions {
  std::string folder;
  int64_t max_bytes = 0;  // 0: the disk, with some left free
  absl::Duration keep = absl::Hours(24);
  std::string replica;  // empty: drawn
};

struct ConfiguredWorker {
  std::string name;
  std::string device;               // "cuda:0", "cpu"
  std::vector<std::string> models;  // never empty
  int64_t memory_bytes = 0;         // of the device, for models and videos; 0: all
};

struct ConfiguredProfile {
  std::string name;
  std::string base;                             // a built-in one: what it starts from in the end
  std::map<std::string, std::string> variants;  // its own, and those of profiles on the way there
};

struct ConfiguredArm {
  std::string name;
  std::string profile;  // built-in or configured
  double share = 0.5;   // of the experiment's requests
};

struct ConfiguredExperiment {
  std::string name;
  std::string model;  // empty: all
  double share = 0;   // of the requests that leave their kernels open
  std::vector<ConfiguredArm> arms;
  double shadow_share = 0;  // of its videos, that are rendered again on the other arm
};

struct SchedulerOptions {
  double max_backlog_seconds = 120;
  int max_queued_jobs = 1000;
  int64_t fill_rows = 8192;
  bool fifo = false;
};

struct TimingOptions {
  absl::Duration default_timeout, max_timeout, propagation, drain, heartbeat, write_stall;
};

struct TelemetryOptions {
  std::string log_level = "info";
  std::string log_format;        // "json", "text" or empty: text on a terminal
  int kernel_sample_every = 32;  // 0: no operator is timed
  CollectorAddress collector;
  double trace_share = 1;  // of requests whose callers leave it open
};

struct HttpOptions {
  Address listen;  // without a host: there is no door
  std::vector<std::string> hosts;
  std::vector<std::string> allow_origins;
  bool playground = true;
  bool tls = false;
  std::map<std::string, std::string> model_aliases;  // name to served name
  int max_streams_per_tenant = 0;                    // 0: any number
  bool enabled() const { return !listen.host.empty(); }
};

struct NatsOptions {
  std::vector<std::string> urls;  // all of them tls://, or none
  int replicas = 1;
  std::string credentials_file, nkey_seed_file;  // one of them, or none
  std::string ca_file;                           // of the servers' certificates, with TLS
  std::string certificate_file, key_file;        // of one's own; empty: none
  int64_t max_bytes = 0;
};

// Where the servers of a fleet keep results and what requests come with.
struct ObjectOptions {
  std::string endpoint;  // empty: nowhere
  std::string bucket, region, credentials_file;
  int deliver_backlog = 0;  // results that may wait for it, before nothing more is rendered
  bool enabled() const { return !endpoint.empty(); }
};

struct FleetOptions {
  std::string name;  // empty: this server is alone
  std::string node;
  Address listen;  // without a host: others hear nothing of this server, nor it of them
  std::string advertise;
  TlsOptions tls;
  bool gateway = false;                  // it has no devices
  std::string encrypt_prompts_key_file;  // empty: prompts lie in the clear in the log
  NatsOptions nats;
  ObjectOptions objects;
  absl::Duration beat, silence, lease, max_clock_skew;
  bool forwards() const { return !listen.host.empty(); }
  bool enabled() const { return !name.empty(); }
};

struct ServerOptions {
  Address listen, metrics_listen;
  std::string health_listen;  // empty: none
  HttpOptions http;
  bool reflection = false;
  TlsOptions tls;
  AuthOptions auth;
  DataOptions data;
  std::vector<model::LoadOptions> models;  // default first
  std::vector<ConfiguredWorker> workers;
  std::vector<ConfiguredProfile> kernel_profiles;
  std::vector<ConfiguredExperiment> experiments;
  std::vector<kernels::PluginSource> plugins;
  SchedulerOptions scheduler;
  TimingOptions timing;
  TelemetryOptions telemetry;
  FleetOptions fleet;
  // Its videos are in a log of its own, not in that of a fleet.
  bool alone() const { return !fleet.enabled(); }
  std::vector<std::string> warnings;  // for the log: legal, but worth a look
};

struct CheckedOptions {
  ServerOptions options;              // meaningful when there are no problems
  std::vector<std::string> problems;  // all of them, each naming its key
};

// Checks a configuration whose defaults are filled (default_config.h).
CheckedOptions MakeServerOptions(const config::v1::ServerConfig& config);

}  // namespace reel::front
