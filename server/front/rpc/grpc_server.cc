// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/grpc_server.h"

#include <grpc/grpc.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/front/api/video_cursor.h"
#include "server/front/config/address.h"
#include "server/front/rpc/header_bounds.h"
#include "server/front/rpc/tls_credentials.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr int kMebibyte = 1024 * 1024;
constexpr int kKeepaliveMs = 30'000;
constexpr int kKeepaliveTimeoutMs = 10'000;
// Until TLS and HTTP/2 are agreed on; gRPC's own limit is two minutes. Whoever is silent afterwards
// is closed by keepalive.
constexpr int kHandshakeTimeoutMs = 20'000;
constexpr int kMinPingIntervalMs = 20'000;
constexpr int kMaxConnectionAgeMs = 30 * 60 * 1000;
constexpr int kMaxStreams = 100;  // of one connection
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
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreams);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, kMaxConnectionAgeMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, ToMilliseconds(longest_call));
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
  if (!HeadersAreBounded()) {
    Log(LogLevel::kWarning, "The headers of calls are not bounded: reeld does not know this gRPC",
        {{"version", grpc_version_string()}});
  }
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
