// SPDX-License-Identifier: Apache-2.0
#include "server/front/app_parts.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/kernel_profiles.h"
#include "server/convert/proto_duration.h"
#include "server/errors/error.h"
#include "server/front/config/address.h"
#include "server/front/config/secret_files.h"
#include "server/front/configured_models.h"
#include "server/front/fleet/embedded_log.h"
#include "server/front/fleet/nats_port.h"
#include "server/front/folder_take_over.h"
#include "server/front/jobs/video_id.h"
#include "server/front/objects/file_store.h"
#include "server/front/objects/s3_store.h"
#include "server/front/rpc/grpc_server.h"
#include "server/front/store/job_rows.h"
#include "server/front/store/media_file.h"
#include "server/front/store/sqlite.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

// Whose its videos are in its log.
constexpr char kAlone[] = "alone";

// A fleet has its own. The rows of what was made here stay, under the names that they have, and the
// node brings into the fleet what has not ended (fleet_joining). Should the server be alone again,
// the rows are what is taken over, since this log knows nothing of meanwhile.
absl::Status SetLogAside(const std::string& log) {
  const std::string aside = log + ".before-fleet";
  REEL_RETURN_IF_ERROR(RenameDatabase(log, aside));
  Log(LogLevel::kWarning, "This server was alone: what has ended stays here, under its names",
      {{"log", aside}});
  return absl::OkStatus();
}

bool IsAlone(const config::v1::ServerConfig& config) { return !config.has_fleet(); }

StateOptions StatesOf(const config::v1::ServerConfig& config) {
  const config::v1::State& own = config.state();
  StateOptions states;
  if (own.keep() == "always") states.keep = StateOptions::Keep::kAlways;
  const bool has_store = IsAlone(config) || config.fleet().has_objects();
  if (own.keep() == "never" || !has_store) states.keep = StateOptions::Keep::kNever;
  if (own.has_max_age() && FromProtoDuration(own.max_age()) > absl::ZeroDuration()) {
    states.max_age = FromProtoDuration(own.max_age());
  }
  states.max_bytes = own.max_bytes();
  return states;
}

}  // namespace

absl::StatusOr<std::string> NamesOf(const config::v1::ServerConfig& config,
                                    const DataFolder& folder, JobStore& store) {
  if (config.has_fleet()) return config.fleet().name();
  REEL_ASSIGN_OR_RETURN(const auto database, Database::OpenAgain(folder.database_path()));
  REEL_ASSIGN_OR_RETURN(Replica::Kept kept, rows::Blobs(*database, Replica::kKind));
  Replica replica(config.data().replica());
  if (replica.TakeUp(std::move(kept))) {
    store.PutBlob(Replica::kKind, replica.name(), replica.what());
  }
  return replica.name();
}

absl::Status TakeOverIfOld(const config::v1::ServerConfig& config, const DataFolder& folder,
                           const VideoSerializer& serializer, const std::string& names,
                           ObjectStore* objects) {
  if (!IsAlone(config) || access(folder.log_path().c_str(), F_OK) == 0) {
    return absl::OkStatus();
  }
  return TakeOverFolder(folder, serializer, {names, kAlone}, *objects);
}

absl::StatusOr<FleetLogOptions> MakeFleetLogOptions(const config::v1::ServerConfig& config) {
  const config::v1::Nats& nats = config.fleet().nats();
  FleetLogOptions options;
  options.urls = {nats.urls().begin(), nats.urls().end()};
  options.fleet = config.fleet().name();
  options.replicas = nats.replicas();
  options.max_bytes = nats.max_bytes();
  options.ca_file = nats.ca_file();
  options.certificate_file = nats.certificate_file();
  options.key_file = nats.key_file();
  if (!nats.nkey_seed_file().empty()) {
    REEL_ASSIGN_OR_RETURN(NKey key, ReadNKeySeed(nats.nkey_seed_file()));
    options.nkey_seed = std::move(key.seed);
    options.nkey_public = std::move(key.public_key);
  }
  if (nats.credentials_file().empty()) return options;
  REEL_ASSIGN_OR_RETURN(KeyPair credentials, ReadKeyPair(nats.credentials_file()));
  options.user = std::move(credentials.key);
  options.password = std::move(credentials.secret);
  return options;
}

absl::Status PrepareFolder(const config::v1::ServerConfig& config, const DataFolder& folder) {
  const std::string log = folder.log_path();
  const bool has_log = access(log.c_str(), F_OK) == 0;
  if (!IsAlone(config)) return has_log ? SetLogAside(log) : absl::OkStatus();
  const bool is_new = !has_log && access(folder.database_path().c_str(), F_OK) != 0;
  // Before anything else is there: what has a database and no log is taken over.
  return is_new ? Database::Open(log).status() : absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<LogPort>> OpenLog(const config::v1::ServerConfig& config,
                                                 FleetService& service) {
  if (IsAlone(config)) return EmbeddedLog::Open(service.view());
  REEL_ASSIGN_OR_RETURN(const FleetLogOptions log, MakeFleetLogOptions(config));
  return NatsPort::Open(log, service.view());
}

absl::StatusOr<std::unique_ptr<ObjectStore>> OpenObjectStore(const config::v1::ServerConfig& config,
                                                             const DataFolder& folder,
                                                             FileOps& ops) {
  if (IsAlone(config)) return FileStore::Open(folder.objects_path(), ops);
  if (!config.fleet().has_objects()) return nullptr;
  const config::v1::Objects& objects = config.fleet().objects();
  auto store = std::make_unique<S3Store>(S3Options{objects.endpoint(), objects.bucket(),
                                                   objects.region(), objects.credentials_file()});
  const absl::Status found = store->List(config.fleet().name() + "/media/-", "").status();
  if (absl::IsPermissionDenied(found) || absl::IsFailedPrecondition(found)) return found;
  if (!found.ok()) {
    Log(LogLevel::kWarning, "the fleet's object store cannot be used yet; results will wait",
        {{"error", found}});
  }
  return store;
}

MediaStoreOptions MakeMediaOptions(const config::v1::Data& data, const DataFolder& folder,
                                   const ObjectStore* objects) {
  MediaStoreOptions options{folder.path(), data.max_bytes()};
  if (objects != nullptr) options.other_bytes = [objects] { return objects->OwnBytes(); };
  return options;
}

SharedStore MakeSharedStore(const config::v1::ServerConfig& config, ObjectStore* objects,
                            const MediaStore& media) {
  if (IsAlone(config)) return {objects, nullptr};
  return {objects,
          [&media](const std::string& id, int attempt) { return media.PathOf(id, attempt); }};
}

DiskProbe MakeDiskProbe(const std::string& folder, const MediaStore& media) {
  return [folder, &media](bool writes) {
    if (media.Usage().full()) {
      return MakeError(Reason::kStoreFull, "The store for results has reached its limit");
    }
    return writes ? ProbeDisk(folder) : absl::OkStatus();
  };
}

std::string ProblemsOf(const std::vector<ServedModel>& models) {
  std::string lines;
  for (const ServedModel& model : models) {
    if (model.problem.empty()) continue;
    absl::StrAppend(&lines, "model ", model.card.name, ": ", model.problem, "\n");
  }
  return lines;
}

absl::Status CheckWorkerProgram(const ProcessLauncherOptions& launcher) {
  if (access(launcher.binary.c_str(), X_OK) == 0) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat(
      "The worker program cannot be run; --worker_binary names another: ", launcher.binary));
}

NodeOptions MakeNodeOptions(const AppOptions& app, const DataFolder& folder,
                            const std::string& names) {
  const config::v1::Fleet& fleet = app.config.fleet();
  NodeOptions options;
  options.alone = IsAlone(app.config);
  options.fleet = names;
  options.node = options.alone ? kAlone : fleet.node();
  options.address = fleet.advertise();
  options.gateway = fleet.gateway();
  options.seal = Seal(app.prompt_keys);
  options.view_file = options.alone ? folder.log_path() : folder.fleet_view_path();
  options.uploads_folder = folder.uploads_path();
  options.max_file_bytes = app.config.data().max_file_bytes();
  options.build = absl::StrCat(app.version, " ", app.revision);
  std::random_device random("/dev/urandom");
  options.process = (uint64_t{random()} << 32) | random();
  for (const config::v1::Tenant& tenant : app.config.auth().tenants()) {
    options.weights[tenant.name()] = tenant.weight();
  }
  if (options.alone) return options;
  options.beat = FromProtoDuration(fleet.beat());
  options.silence = FromProtoDuration(fleet.silence());
  options.lease = FromProtoDuration(fleet.lease());
  options.max_clock_skew = FromProtoDuration(fleet.max_clock_skew());
  options.deliver_backlog = fleet.objects().deliver_backlog();
  return options;
}

JobOptions MakeJobOptions(const AppOptions& app, const std::string& names) {
  const config::v1::ServerConfig& config = app.config;
  JobOptions options;
  options.build = absl::StrCat(app.version, " ", app.revision);
  options.limits.max_file_bytes = config.data().max_file_bytes();
  options.models = SourcesOf(config);
  for (const config::v1::Tenant& tenant : config.auth().tenants()) {
    options.tenants[tenant.name()] = {tenant.weight(), tenant.max_jobs(),
                                      tenant.device_seconds_per_hour(), tenant.max_stored_bytes(),
                                      tenant.max_queued_device_seconds()};
  }
  options.kernel_profiles = ProfilesOf(config);
  for (const config::v1::Experiment& experiment : config.experiments()) {
    options.experiments.push_back({experiment.name(), experiment.model(), experiment.share(),
                                   ArmsOf(experiment), experiment.shadow_share()});
  }
  options.max_backlog_seconds = config.scheduler().max_backlog_seconds();
  options.max_queued_jobs = config.scheduler().max_queued_jobs();
  options.fill_rows = config.scheduler().fill_rows();
  options.fifo = config.scheduler().order() == "fifo";
  options.default_timeout = FromProtoDuration(config.timing().default_timeout());
  options.max_timeout = FromProtoDuration(config.timing().max_timeout());
  options.heartbeat = FromProtoDuration(config.timing().heartbeat());
  options.keep = FromProtoDuration(config.data().keep());
  options.state = StatesOf(config);
  options.alone = IsAlone(config);
  options.replica = names;
  return options;
}

WorkerPoolOptions MakePoolOptions(const AppOptions& app) {
  WorkerPoolOptions options;
  const config::v1::ServerConfig& config = app.config;
  for (const config::v1::Worker& worker : config.workers()) {
    options.workers.push_back({worker.name(),
                               worker.device(),
                               {worker.models().begin(), worker.models().end()},
                               worker.memory_bytes()});
  }
  for (const config::v1::Model& model : config.models()) {
    options.models.push_back(LoadOptionsOf(model, config));
  }
  for (const config::v1::Plugin& plugin : config.plugins()) {
    options.plugins.push_back(
        {plugin.name(), config.plugin_root(), plugin.folder(), plugin.sha256()});
  }
  options.fill_rows = config.scheduler().fill_rows();
  // -1 in the configuration, 0 for a worker: never.
  options.kernel_sample_every = std::max(0, config.telemetry().kernel_sample_every());
  options.runtime_base = app.runtime_base;
  return options;
}

std::unique_ptr<FramesComparer> MakeFramesComparer(const AppOptions& app) {
  const auto& experiments = app.config.experiments();
  const bool wanted = std::any_of(experiments.begin(), experiments.end(),
                                  [](const auto& one) { return one.shadow_share() > 0; });
  if (!wanted) return nullptr;
  const std::string binary = FramesBinaryBesideUs();
  if (access(binary.c_str(), X_OK) == 0) return MakeProcessFramesComparer({binary});
  Log(LogLevel::kError, "experiments have no shadow renders: the program that compares is missing",
      {{"program", binary}});
  return nullptr;
}

ProcessLauncherOptions MakeLauncherOptions(const AppOptions& app) {
  ProcessLauncherOptions options;
  options.binary = app.worker_binary.empty() ? WorkerBinaryBesideUs() : app.worker_binary;
  options.extra_arguments = {"--log_level=" + app.config.telemetry().log_level(),
                             std::string("--log_format=") + (app.json_log ? "json" : "text")};
  return options;
}

MetricsOptions MakeMetricsOptions(const AppOptions& app) {
  MetricsOptions options{app.version, app.revision, kernels::BuiltInProfiles(), {}, {}};
  for (const auto& profile : app.config.kernel_profiles()) {
    options.profiles.push_back(profile.name());
  }
  for (const auto& tenant : app.config.auth().tenants()) options.tenants.push_back(tenant.name());
  for (const auto& one : app.config.experiments())
    for (const auto& arm : one.arms()) options.arms.emplace_back(one.name(), arm.name());
  return options;
}

TraceExporterOptions MakeTraceOptions(const AppOptions& app) {
  TraceExporterOptions options;
  options.resource = {app.version, app.config.data().replica()};
  return options;
}

absl::Duration LongestCall(const config::v1::ServerConfig& config) {
  return FromProtoDuration(config.timing().max_timeout()) + absl::Minutes(1);
}

RequestRules MakeRules(const config::v1::ServerConfig& config) {
  RequestRules rules;
  rules.max_timeout = FromProtoDuration(config.timing().max_timeout());
  rules.default_timeout = FromProtoDuration(config.timing().default_timeout());
  rules.limits.max_file_bytes = config.data().max_file_bytes();
  return rules;
}

DoorOptions MakeDoorOptions(const config::v1::Http& http) {
  return {.guard = {AddressOf(http.listen()).loopback(),
                    {http.hosts().begin(), http.hosts().end()},
                    {http.allow_origins().begin(), http.allow_origins().end()}},
          .page = http.playground(),
          .model_aliases = {http.model_aliases().begin(), http.model_aliases().end()},
          .streams_per_tenant = http.max_streams_per_tenant()};
}

DoorLimits MakeDoorLimits(const config::v1::ServerConfig& config) {
  DoorLimits limits;
  limits.write_stall = FromProtoDuration(config.timing().write_stall());
  // gRPC and the workers need descriptors too.
  const int64_t descriptors = RaiseDescriptorLimit();
  limits.connections =
      static_cast<int>(std::clamp<int64_t>(descriptors * 6 / 10, 1, DoorLimits().connections));
  return limits;
}

std::string AddressLine(const std::string& name, const std::string& address) {
  return address.empty() ? "" : absl::StrCat(name, "=", address, "\n");
}

absl::Status WritePortFile(const std::string& path, const std::string& text) {
  const std::string draft = path + ".part";
  std::ofstream(draft) << text;
  if (std::rename(draft.c_str(), path.c_str()) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("The port file cannot be written: ", path));
  }
  return absl::OkStatus();
}

}  // namespace reel::front
