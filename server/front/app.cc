// SPDX-License-Identifier: Apache-2.0
#include "server/front/app.h"

#include <grpcpp/impl/codegen/service_type.h>

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/convert/proto_duration.h"
#include "server/front/app_parts.h"
#include "server/front/config/address.h"
#include "server/front/config/tls_files.h"
#include "server/front/configured_models.h"
#include "server/front/fleet_joining.h"
#include "server/front/health/health_board.h"
#include "server/front/health/health_service.h"
#include "server/front/http/door.h"
#include "server/front/http/door_server.h"
#include "server/front/http/http_server.h"
#include "server/front/jobs/dispatcher.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/kernel_log/gpu_errors.h"
#include "server/front/metrics/metrics.h"
#include "server/front/neighbourhood.h"
#include "server/front/node/fleet_service.h"
#include "server/front/node/node_options.h"
#include "server/front/objects/object_store.h"
#include "server/front/rpc/grpc_server.h"
#include "server/front/rpc/self_check.h"
#include "server/front/rpc/server_service.h"
#include "server/front/rpc/video_service.h"
#include "server/front/store/data_folder.h"
#include "server/front/store/job_store.h"
#include "server/front/store/media_file.h"
#include "server/front/store/media_store.h"
#include "server/front/stored_messages.h"
#include "server/front/traces/collector.h"
#include "server/front/traces/trace_exporter.h"
#include "server/front/workers/launcher.h"
#include "server/front/workers/worker_host.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr int kPumpThreads = 2;
// Ends of a drain: answers leave, then workers, then the rest.
// Past its limit a drain writes what has ended, and gives back to a fleet what was not done.
constexpr absl::Duration kDrainSlack = absl::Seconds(3);
constexpr absl::Duration kFlush = absl::Seconds(2);
constexpr absl::Duration kShutdownGrace = absl::Seconds(1);
constexpr absl::Duration kWorkerDrain = absl::Milliseconds(500);

}  // namespace

// In the order in which parts are made; what stands above is used by what stands below.
struct App::Impl {
  explicit Impl(AppOptions app_options)
      : options(std::move(app_options)),
        metrics(MakeMetricsOptions(options)),
        authorizer(options.config.auth().tokens_file().empty()
                       ? std::make_unique<Authorizer>()
                       : std::make_unique<Authorizer>(options.tokens)),
        environment{*authorizer, metrics.calls(), open_calls, unsent_requests, probes, callers},
        pump(kPumpThreads, std::min(write_stall() / 8, absl::Seconds(1))) {}
  ~Impl();

  absl::Status OpenStores();
  void OpenTraces();
  absl::Status StartJobs();
  absl::Status JoinFleet(const NodeOptions& node);
  absl::Status StartServers();
  absl::Status StartPlaintextHealth();
  absl::Status StartDoor(const ServerFacts& facts);
  DoorFacts OpenDoor();
  void StartWatches(std::function<void()> failed);
  void DrainJobs();
  const config::v1::ServerConfig& config() const { return options.config; }
  absl::Duration write_stall() const { return FromProtoDuration(config().timing().write_stall()); }
  bool hurried() {
    MutexLock lock(mutex);
    return hurry;
  }

  const AppOptions options;
  const std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  SystemClock clock;
  FileOps file_ops;
  AdapterRegistry adapters;
  StoredMessages serializer;
  Metrics metrics;
  std::unique_ptr<Authorizer> authorizer;
  OpenCalls open_calls;
  UnsentRequests unsent_requests;
  NewConnections probes, callers;
  CallEnvironment environment;
  HealthBoard board;
  std::optional<DataFolder> folder;
  std::string names;  // first part of those of new videos
  std::unique_ptr<JobStore> store;
  std::unique_ptr<ObjectStore> objects;
  std::unique_ptr<MediaStore> media;
  StreamPump pump;  // jobs may wake streams until they are gone
  std::unique_ptr<CollectorClient> collector;
  std::unique_ptr<TraceExporter> exporter;
  std::unique_ptr<TracedEnds> traced_ends;
  std::unique_ptr<FramesComparer> comparer;
  std::unique_ptr<WorkerHost> host;
  std::unique_ptr<FleetService> fleet;  // of one, where this server is alone
  std::unique_ptr<Dispatcher> dispatcher;
  std::unique_ptr<Neighbourhood> neighbourhood;  // null: other servers are not heard
  std::unique_ptr<grpc::Service> video_service, server_service, health_service;
  std::unique_ptr<GrpcServer> grpc_server, health_server;
  std::unique_ptr<HttpServer> http_server;
  std::unique_ptr<Door> door;
  std::unique_ptr<DoorServer> door_server;
  std::unique_ptr<HealthMonitor> monitor;
  std::unique_ptr<SelfCheck> self_check;
  std::unique_ptr<KernelLog> kernel_log;  // null: it cannot be read

  Mutex mutex;
  CondVar changed;
  bool jobs_drained ABSL_GUARDED_BY(mutex) = false, hurry ABSL_GUARDED_BY(mutex) = false;
  DoorFacts open_door ABSL_GUARDED_BY(mutex);
};

App::Impl::~Impl() {
  self_check.reset();
  monitor.reset();
  board.Close();
  pump.CloseAll();
  unsent_requests.Close();
  door_server.reset();
  http_server.reset();
  health_server.reset();
  neighbourhood.reset();
  grpc_server.reset();
  // The host reports to the dispatcher, which commands the host: the reports stop first.
  if (host != nullptr) host->Stop();
  if (fleet != nullptr) fleet->Stop();
  dispatcher.reset();
}

absl::Status App::Impl::OpenStores() {
  REEL_ASSIGN_OR_RETURN(DataFolder opened, DataFolder::Open(config().data().folder()));
  folder.emplace(std::move(opened));
  REEL_RETURN_IF_ERROR(PrepareFolder(config(), *folder));
  REEL_ASSIGN_OR_RETURN(store, OpenJobStore(folder->database_path()));
  REEL_ASSIGN_OR_RETURN(objects, OpenObjectStore(config(), *folder, file_ops));
  REEL_ASSIGN_OR_RETURN(
      media, OpenMediaStore(MakeMediaOptions(config().data(), *folder, objects.get()), file_ops));
  REEL_ASSIGN_OR_RETURN(names, NamesOf(config(), *folder, *store));
  return TakeOverIfOld(config(), *folder, serializer, names, objects.get());
}

void App::Impl::OpenTraces() {
  const config::v1::Telemetry& telemetry = config().telemetry();
  const auto address = ParseCollectorAddress(telemetry.otlp_endpoint());
  if (!address.ok()) return;  // none is configured
  collector = std::make_unique<CollectorClient>(
      CollectorClientOptions{*address, telemetry.otlp_ca_file(), telemetry.otlp_headers_file()});
  exporter =
      std::make_unique<TraceExporter>(MakeTraceOptions(options), *collector, metrics.traces());
  traced_ends = std::make_unique<TracedEnds>(*exporter, telemetry.trace_share());
}

absl::Status App::Impl::StartJobs() {
  const ProcessLauncherOptions launcher = MakeLauncherOptions(options);
  if (!config().fleet().gateway()) REEL_RETURN_IF_ERROR(CheckWorkerProgram(launcher));
  OpenTraces();
  host = std::make_unique<WorkerHost>(MakePoolOptions(options), MakeProcessLauncher(launcher));
  const NodeOptions node = MakeNodeOptions(options, *folder, names);
  fleet = std::make_unique<FleetService>(node, serializer, clock,
                                         MakeSharedStore(config(), objects.get(), *media),
                                         MakeDiskProbe(folder->path(), *media));
  comparer = MakeFramesComparer(options);
  JobOptions jobs = MakeJobOptions(options, names);
  REEL_ASSIGN_OR_RETURN(jobs.adapters, adapters.Read(config()));
  dispatcher = std::make_unique<Dispatcher>(
      std::move(jobs),
      DispatcherPorts{*store, *media, *host, metrics.jobs(), fleet->clock(), serializer}, *fleet,
      traced_ends.get(), comparer.get());
  REEL_RETURN_IF_ERROR(dispatcher->Start());
  REEL_RETURN_IF_ERROR(JoinFleet(node));
  return host->Start(*dispatcher);
}

absl::Status App::Impl::JoinFleet(const NodeOptions& node) {
  REEL_ASSIGN_OR_RETURN(std::unique_ptr<LogPort> port, OpenLog(config(), *fleet));
  if (!node.alone) {
    REEL_RETURN_IF_ERROR(BringIntoFleet({*store, *media, serializer}, node, objects.get(), *port));
  }
  Neighbours neighbours;
  if (!config().fleet().listen().empty()) {
    REEL_ASSIGN_OR_RETURN(neighbourhood,
                          Neighbourhood::Open(config(), environment, *fleet, pump, folder->path()));
    neighbours = neighbourhood->neighbours();
  }
  fleet->Start(std::move(port), *dispatcher, std::move(neighbours));
  if (config().has_fleet()) metrics.WatchFleet([this] { return fleet->Fleet(); });
  return absl::OkStatus();
}

absl::Status App::Impl::StartPlaintextHealth() {
  if (config().health_listen().empty()) return absl::OkStatus();
  GrpcServerOptions server;
  server.address = config().health_listen();
  REEL_ASSIGN_OR_RETURN(health_server, GrpcServer::Start(server, {health_service.get()}));
  return absl::OkStatus();
}

absl::Status App::Impl::StartDoor(const ServerFacts& facts) {
  const config::v1::Http& http = config().http();
  if (http.listen().empty()) return absl::OkStatus();
  door = std::make_unique<Door>(DoorParts{*authorizer, metrics.calls(), *fleet},
                                MakeDoorOptions(http), facts);
  REEL_ASSIGN_OR_RETURN(
      door_server, DoorServer::Start(AddressOf(http.listen()),
                                     {*door, pump, open_calls, metrics.calls(), metrics.door()},
                                     MakeDoorLimits(config()),
                                     http.tls() ? TlsOptionsOf(config().tls()) : TlsOptions()));
  MutexLock lock(mutex);
  open_door = {absl::StrCat(http.tls() ? "https://" : "http://", door_server->address_text()),
               http.playground()};
  return absl::OkStatus();
}

DoorFacts App::Impl::OpenDoor() {
  MutexLock lock(mutex);
  return open_door;
}

absl::Status App::Impl::StartServers() {
  const RequestRules rules = MakeRules(config());
  video_service = MakeVideoService(environment, *fleet, pump, {rules, write_stall()});
  ServerFacts facts{.version = options.version,
                    .revision = options.revision,
                    .started = started,
                    .rules = rules,
                    .door = [this] { return OpenDoor(); }};
  for (const config::v1::Tenant& tenant : config().auth().tenants()) {
    facts.max_jobs[tenant.name()] = tenant.max_jobs();
  }
  server_service = MakeServerService(environment, *fleet, facts);
  health_service = MakeHealthService(environment, board);
  REEL_RETURN_IF_ERROR(StartPlaintextHealth());
  REEL_ASSIGN_OR_RETURN(
      http_server,
      HttpServer::Start(AddressOf(config().metrics_listen()),
                        {[this] { return metrics.Text(); },
                         [this] { return board.Serving(kHealthLiveness).value_or(false); },
                         [this] { return board.Serving(kHealthVideoService).value_or(false); },
                         [this] { return ProblemsOf(dispatcher->Models()) + fleet->Problem(); }}));
  GrpcServerOptions server;
  server.address = config().listen();
  server.tls = TlsOptionsOf(config().tls());
  server.certificate_valid_until = [this](absl::Time end) { metrics.SetCertificateEnd(end); };
  server.reflection = config().reflection();
  server.longest_call = LongestCall(config());
  REEL_ASSIGN_OR_RETURN(
      grpc_server,
      GrpcServer::Start(server, {video_service.get(), server_service.get(), health_service.get()}));
  return StartDoor(facts);
}

void App::Impl::StartWatches(std::function<void()> failed) {
  kernel_log = WatchGpuErrors(config().telemetry().kernel_log(),
                              [this](XidClass what, int count) { metrics.CountXids(what, count); });
  monitor = std::make_unique<HealthMonitor>(
      board, [this] { return fleet->admitting(); },
      [this] {
        for (const ServedModel& model : fleet->Models()) {
          if (model.ready || model.state == ModelState::kOnDemand) return true;
        }
        return false;
      });
  SelfCheckOptions check;
  check.address = grpc_server->address();
  check.tls = TlsOptionsOf(config().tls()).enabled();
  check.taken = [this] {
    if (health_server != nullptr) return callers.latest();
    return std::max(probes.latest(), callers.latest());
  };
  check.missed = [this] { metrics.CountSelfCheckMiss(); };
  self_check = std::make_unique<SelfCheck>(check, [this, failed = std::move(failed)] {
    board.SetAlive(false);
    failed();
  });
}

void App::Impl::DrainJobs() {
  const absl::Duration propagation = FromProtoDuration(config().timing().propagation());
  const absl::Duration drain = FromProtoDuration(config().timing().drain());
  const auto drained = [this] {
    MutexLock lock(mutex);
    jobs_drained = true;
    changed.NotifyAll();
  };
  fleet->Drain(propagation, drain, drained);
  // The dispatcher keeps to its limits; should it hang, the rest goes on.
  const absl::Duration end = clock.Monotonic() + propagation + drain + kDrainSlack;
  MutexLock lock(mutex);
  while (!jobs_drained && clock.Monotonic() < end) {
    changed.WaitFor(mutex, end - clock.Monotonic());
  }
}

App::App(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
App::~App() = default;

absl::StatusOr<std::unique_ptr<App>> App::Start(AppOptions options, std::function<void()> failed) {
  auto impl = std::make_unique<Impl>(std::move(options));
  REEL_RETURN_IF_ERROR(impl->OpenStores());
  REEL_RETURN_IF_ERROR(impl->StartJobs());
  REEL_RETURN_IF_ERROR(impl->StartServers());
  impl->StartWatches(std::move(failed));
  std::unique_ptr<App> app(new App(std::move(impl)));
  const std::string& port_file = app->impl_->options.port_file;
  if (!port_file.empty()) REEL_RETURN_IF_ERROR(WritePortFile(port_file, app->Addresses()));
  return app;
}

const std::string& App::grpc_address() const { return impl_->grpc_server->address(); }
const std::string& App::metrics_address() const { return impl_->http_server->address_text(); }

std::string App::http_address() const {
  return impl_->door_server == nullptr ? "" : impl_->door_server->address_text();
}

std::string App::health_address() const {
  return impl_->health_server == nullptr ? "" : impl_->health_server->address();
}

std::string App::Addresses() const {
  return absl::StrCat(
      AddressLine("grpc", grpc_address()), AddressLine("metrics", metrics_address()),
      AddressLine("health", health_address()), AddressLine("http", http_address()),
      AddressLine("fleet", impl_->neighbourhood ? impl_->neighbourhood->address() : ""));
}

void App::Drain() {
  Log(LogLevel::kInfo, "draining");
  impl_->board.Drain();
  impl_->metrics.SetDraining(true);
  impl_->DrainJobs();
  impl_->self_check.reset();
  impl_->board.Close();
  impl_->pump.CloseAll();
  impl_->unsent_requests.Close();
  const absl::Duration flush = impl_->hurried() ? absl::Milliseconds(200) : kFlush;
  if (!impl_->open_calls.WaitForNone(flush)) {
    Log(LogLevel::kWarning, "the time to drain is over: open calls are ended",
        {{"calls", impl_->open_calls.count()}});
  }
  impl_->door_server.reset();
  if (impl_->health_server != nullptr) impl_->health_server->Shutdown(absl::ZeroDuration());
  if (impl_->neighbourhood != nullptr) impl_->neighbourhood->Shutdown();
  impl_->grpc_server->Shutdown(impl_->hurried() ? absl::ZeroDuration() : kShutdownGrace);
  impl_->host->Drain(impl_->hurried() ? absl::ZeroDuration() : kWorkerDrain);
}

void App::Hurry() {
  {
    MutexLock lock(impl_->mutex);
    impl_->hurry = true;
  }
  impl_->dispatcher->Drain(absl::ZeroDuration(), absl::ZeroDuration(), [] {});
}

absl::Duration App::longest_drain() const {
  const config::v1::Timing& timing = impl_->config().timing();
  return FromProtoDuration(timing.propagation()) + FromProtoDuration(timing.drain()) + kDrainSlack +
         absl::Seconds(4);
}

void App::Reload() {
  ReloadTokens();
  ReloadModels();
}

void App::ReloadModels() { ReadModelsAgain(impl_->options, impl_->adapters, *impl_->dispatcher); }

void App::ReloadTokens() {
  const std::string& path = impl_->config().auth().tokens_file();
  if (path.empty()) {
    return Log(LogLevel::kInfo, "reloaded; no tokens file; certificates are read anew");
  }
  auto tokens = TokenTable::Load(path);
  if (!tokens.ok()) {
    return Log(LogLevel::kError, "the tokens file is invalid; the old tokens stay in use",
               {{"error", tokens.status()}});
  }
  Log(LogLevel::kInfo, "reloaded the tokens", {{"tokens", static_cast<int64_t>(tokens->size())}});
  impl_->authorizer->Replace(*std::move(tokens));
}

}  // namespace reel::front
