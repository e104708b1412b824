// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/grpc_server.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/mutex.h"
#include "kernels/base/status_macros.h"
#include "server/front/api/tls_watch.h"
#include "server/front/api/video_cursor.h"
#include "server/front/config/address.h"
#include "server/front/rpc/call_bounds.h"
#include "server/front/rpc/header_bounds.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr size_t kMaxBytes = 500;

void Forward(gpr_log_func_args* line) {
  const LogLevel level =
      line->severity == GPR_LOG_SEVERITY_ERROR ? LogLevel::kWarning : LogLevel::kDebug;
  Log(level, "grpc", {{"text", std::string_view(line->message).substr(0, kMaxBytes)}});
}

// Its lines name fields and files, never what is in them.
void ForwardProtobuf(google::protobuf::LogLevel level, const char*, int,
                     const std::string& message) {
  const LogLevel ours =
      level == google::protobuf::LOGLEVEL_FATAL ? LogLevel::kError : LogLevel::kInfo;
  Log(ours, "protobuf", {{"text", std::string_view(message).substr(0, kMaxBytes)}});
}

}  // namespace

void TakeGrpcLog() { gpr_set_log_function(Forward); }

void TakeProtobufLog() { google::protobuf::SetLogHandler(ForwardProtobuf); }

namespace {

constexpr size_t kMost = 16'384;

}  // namespace

void NewConnections::Note(const std::string& connection) {
  MutexLock lock(mutex_);
  if (!known_.insert(connection).second) return;
  latest_ = Clock::now();
  order_.push_back(connection);
  if (order_.size() <= kMost) return;
  known_.erase(order_.front());
  order_.pop_front();
}

NewConnections::Clock::time_point NewConnections::latest() const {
  MutexLock lock(mutex_);
  return latest_;
}

namespace {

// Note: [Certificates by connection] gRPC 1.51's FileWatcherCertificateProvider hands on whatever
// the files hold. A certificate that was written before its key, or a broken one, ended every new
// connection until the next good look, ten seconds later or more. gRPC's core also has a question
// that it asks at each handshake, which the C++ library does not wrap; this does.
class TlsCredentials final : public grpc::ServerCredentials {
 public:
  TlsCredentials(const TlsOptions& options, std::function<void(absl::Time)> valid_until)
      : watch_(options, std::move(valid_until)) {}

  // What the files hold, when that is new; their problems, when they have some.
  std::vector<std::string> Load() {
    MutexLock lock(mutex_);
    return watch_.Look(fresh_);
  }

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    grpc_server_credentials* const credentials = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(
            watch_.options().client_ca_file.empty()
                ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY,
            &TlsCredentials::Ask, this));
    const int port = grpc_server_add_http2_port(server, address.c_str(), credentials);
    grpc_server_credentials_release(credentials);
    return port;
  }

  // Of each handshake, on gRPC's threads: three stat calls, and a read after a renewal.
  static grpc_ssl_certificate_config_reload_status Ask(
      void* self, grpc_ssl_server_certificate_config** config) {
    return static_cast<TlsCredentials*>(self)->Answer(config);
  }

  grpc_ssl_certificate_config_reload_status Answer(grpc_ssl_server_certificate_config** config) {
    MutexLock lock(mutex_);
    if (auto renewed = watch_.Renewed()) fresh_ = std::move(renewed);
    if (!fresh_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    const grpc_ssl_pem_key_cert_pair pair = {fresh_->key.c_str(), fresh_->certificates.c_str()};
    // gRPC's core aborts without roots, though it looks at them only where clients must show a
    // certificate.
    const bool mutual = !watch_.options().client_ca_file.empty();
    const std::string& roots = mutual ? fresh_->client_ca : fresh_->certificates;
    *config = grpc_ssl_server_certificate_config_create(roots.c_str(), &pair, 1);
    fresh_.reset();
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  TlsWatch watch_;
  Mutex mutex_;
  std::optional<TlsFiles> fresh_ ABSL_GUARDED_BY(mutex_);  // good, and not yet with gRPC
};

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeTlsCredentials(
    const TlsOptions& options, std::function<void(absl::Time)> valid_until) {
  auto credentials = std::make_shared<TlsCredentials>(options, std::move(valid_until));
  const std::vector<std::string> problems = credentials->Load();
  if (!problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems, "; "));
  return credentials;
}

namespace {

constexpr int kMebibyte = 1024 * 1024;
constexpr int kKeepaliveMs = 30'000;
constexpr int kKeepaliveTimeoutMs = 10'000;
// Until TLS and HTTP/2 are agreed on; gRPC's own limit is two minutes. Whoever is silent afterwards
// is closed by keepalive.
constexpr int kHandshakeTimeoutMs = 20'000;
constexpr int kMinPingIntervalMs = 20'000;
constexpr int kMaxConnectionAgeMs = 30 * 60 * 1000;
// The flow-control window of a call: a caller at a round trip of 100 ms can send 10 MB/s. gRPC
// would raise the windows of fast connections; when the unread bytes of all calls then exceed the
// quota below, it ends one of the calls at random.
constexpr int kMostUnreadBytes = kMebibyte;
// Of reflection alone, which is gRPC's own and takes a thread for each open call.
constexpr int kMaxThreads = 32;

int ToMilliseconds(absl::Duration duration) {
  constexpr auto kLongest = absl::Milliseconds(std::numeric_limits<int>::max());
  return static_cast<int>(absl::ToInt64Milliseconds(std::min(duration, kLongest)));
}

// gRPC inflates a message before it looks at its size: 0.4 MB on the wire became 800 MiB, before
// any token was asked for. A call that announces compression ends as UNIMPLEMENTED by its headers;
// without the filter nothing inflates what comes unannounced.
void RefuseCompression(grpc::ServerBuilder& builder) {
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
}

// The settings and their reasons are in serving's table: this gRPC has known holes (a dead
// listener, one caller's headers ending its neighbours' calls, readers that are never noticed).
void Guard(grpc::ServerBuilder& builder, absl::Duration longest_call) {
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kMinPingIntervalMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMostMetadataBytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostOpenCalls);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, kMaxConnectionAgeMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, ToMilliseconds(longest_call));
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kMostUnreadBytes);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // a second reeld must not share it
  RefuseCompression(builder);
  builder.SetMaxReceiveMessageSize(4 * kMebibyte);
  builder.SetMaxSendMessageSize(kMebibyte + 4096);
  grpc::ResourceQuota quota("reeld");
  quota.Resize(256 * static_cast<size_t>(kMebibyte));
  quota.SetMaxThreads(kMaxThreads);
  // One for each core would want more threads than that on a large machine, and abort.
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::NUM_CQS, 1);
  builder.SetResourceQuota(quota);
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> Credentials(
    const GrpcServerOptions& options) {
  if (!options.tls.enabled()) return grpc::InsecureServerCredentials();
  return MakeTlsCredentials(options.tls, options.certificate_valid_until);
}

void WarnOfUnboundedGrpc() {
  if (!HeadersAreBounded()) {
    Log(LogLevel::kWarning, "The headers of calls are not bounded: reeld does not know this gRPC",
        {{"version", grpc_version_string()}});
  }
  if (!CallsAreBounded()) {
    Log(LogLevel::kWarning, "Calls that are reset are not bounded: reeld does not know this gRPC",
        {{"version", grpc_version_string()}});
  }
}

}  // namespace

struct GrpcServer::Impl {
  std::shared_ptr<grpc::ServerCredentials> credentials;  // outlive the server
  std::unique_ptr<grpc::Server> server;
};

GrpcServer::GrpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

GrpcServer::~GrpcServer() { Shutdown(absl::ZeroDuration()); }

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(
    const GrpcServerOptions& options, const std::vector<grpc::Service*>& services) {
  auto address = ParseAddress(options.address);
  if (!address.ok()) return address.status();
  auto impl = std::make_unique<Impl>();
  REEL_ASSIGN_OR_RETURN(impl->credentials, Credentials(options));
  grpc::EnableDefaultHealthCheckService(false);
  WarnOfUnboundedGrpc();
  if (options.reflection) {
    static std::once_flag once;  // gRPC's registry of plug-ins is the process's
    std::call_once(once, grpc::reflection::InitProtoReflectionServerBuilderPlugin);
  }
  grpc::ServerBuilder builder;
  Guard(builder, options.longest_call);
  int port = 0;
  builder.AddListeningPort(options.address, impl->credentials, &port);
  for (grpc::Service* service : services) builder.RegisterService(service);
  impl->server = builder.BuildAndStart();
  if (impl->server == nullptr || port == 0) {
    return absl::UnavailableError(absl::StrCat(
        "The gRPC server cannot listen: the address may be in use or not of this machine: ",
        options.address));
  }
  auto server = std::unique_ptr<GrpcServer>(new GrpcServer(std::move(impl)));
  address->port = port;
  server->address_ = address->ToString();
  return server;
}

void GrpcServer::Shutdown(absl::Duration grace) {
  if (impl_->server == nullptr) return;
  impl_->server->Shutdown(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(grace));
  impl_->server->Wait();
  impl_->server.reset();
}

void KeepGrpc() { grpc_init(); }

int64_t RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);  // a refusal leaves what was there
  getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int64_t>(limit.rlim_cur);
}

}  // namespace reel::front
