// SPDX-License-Identifier: Apache-2.0
#include "server/front/neighbourhood.h"

#include <grpcpp/impl/codegen/service_type.h>

#include <utility>

#include "kernels/base/status_macros.h"
#include "reel/config/v1/config.pb.h"
#include "server/convert/proto_duration.h"
#include "server/front/app_parts.h"
#include "server/front/config/address.h"
#include "server/front/config/tls_files.h"
#include "server/front/peers/grpc_peers.h"
#include "server/front/rpc/grpc_server.h"
#include "server/front/rpc/video_service.h"

namespace reel::front {
namespace {

constexpr absl::Duration kLastCalls = absl::Seconds(2);
// Of what is copied from other servers while somebody reads it.
constexpr int64_t kSpoolBytes = int64_t{8} << 30;

}  // namespace

struct Neighbourhood::Impl {
  explicit Impl(const CallEnvironment& shared)
      : environment{shared.authorizer,
                    shared.observer,
                    shared.open_calls,
                    shared.unsent_requests,
                    probes,
                    callers,
                    true} {}

  NewConnections probes, callers;  // what comes here says nothing of the public listener
  const CallEnvironment environment;
  std::unique_ptr<grpc::Service> service;
  std::unique_ptr<GrpcServer> server;
  std::shared_ptr<GrpcPeers> peers;
  std::shared_ptr<Spool> spool;
  std::string address;  // told to others
};

Neighbourhood::Neighbourhood(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Neighbourhood::~Neighbourhood() { Shutdown(); }

absl::StatusOr<std::unique_ptr<Neighbourhood>> Neighbourhood::Open(
    const config::v1::ServerConfig& config, const CallEnvironment& environment, FleetService& fleet,
    StreamPump& pump, const std::string& spool_folder) {
  const config::v1::Fleet& own = config.fleet();
  const TlsOptions tls = TlsOptionsOf(own.tls());
  const absl::Duration write_stall = FromProtoDuration(config.timing().write_stall());
  auto impl = std::make_unique<Impl>(environment);
  impl->peers = std::make_shared<GrpcPeers>(tls);
  impl->spool = std::make_shared<Spool>(spool_folder, kSpoolBytes);
  impl->service =
      MakeVideoService(impl->environment, fleet, pump, {MakeRules(config), write_stall});
  GrpcServerOptions listener;
  listener.address = own.listen();
  listener.tls = tls;
  listener.longest_call = LongestCall(config);
  REEL_ASSIGN_OR_RETURN(impl->server, GrpcServer::Start(listener, {impl->service.get()}));
  // The system has chosen a port, and nobody has said what others see.
  const bool is_drawn = AddressOf(own.listen()).port == 0 && own.advertise() == own.listen();
  impl->address = is_drawn ? impl->server->address() : own.advertise();
  return std::unique_ptr<Neighbourhood>(new Neighbourhood(std::move(impl)));
}

Neighbours Neighbourhood::neighbours() const {
  return {{impl_->peers, impl_->spool}, impl_->address};
}

const std::string& Neighbourhood::address() const { return impl_->server->address(); }

void Neighbourhood::Shutdown() {
  impl_->server->Shutdown(absl::ZeroDuration());
  impl_->peers->Stop(kLastCalls);
}

}  // namespace reel::front
