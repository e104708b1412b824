// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/fleet_options.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "reel/config/v1/config.pb.h"
#include "server/convert/proto_duration.h"
#include "server/front/config/nats_options.h"
#include "server/front/config/object_options.h"

namespace reel::front {
namespace {

void ReadListener(const config::v1::Fleet& fleet, OptionReader& reader, ServerOptions& out) {
  const config::v1::Tls& tls = fleet.tls();
  out.fleet.tls = {tls.certificate_file(), tls.key_file(), tls.client_ca_file()};
  const bool any = fleet.has_tls();
  const bool all = out.fleet.tls.enabled() && !out.fleet.tls.key_file.empty() &&
                   !out.fleet.tls.client_ca_file.empty();
  if (any && !all) {
    reader.Problem("fleet.tls", "needs certificate_file, key_file and client_ca_file");
  }
  if (fleet.listen().empty()) {
    if (any) reader.Problem("fleet.tls", "needs fleet.listen");
    if (fleet.insecure()) reader.Problem("fleet.insecure", "needs fleet.listen");
    return;
  }
  out.fleet.listen = AddressOf(fleet.listen());
  if (any && fleet.insecure()) {
    reader.Problem("fleet.insecure", "leave it out beside fleet.tls");
  }
  if (!out.fleet.forwards() || out.fleet.listen.loopback() || any) return;
  if (fleet.insecure()) {
    out.warnings.emplace_back(
        "fleet.insecure: whoever reaches fleet.listen may see the videos of all tenants");
    return;
  }
  reader.Problem("fleet.listen",
                 absl::StrCat("can be reached from other machines (", out.fleet.listen.ToString(),
                              "): set fleet.tls, or fleet.insecure where the network encrypts"));
}

void CheckGateway(const config::v1::ServerConfig& config, OptionReader& reader) {
  if (!config.fleet().gateway()) return;
  if (config.workers_size() > 0) reader.Problem("workers", "a gateway (fleet.gateway) has none");
  if (config.models_size() > 0) reader.Problem("models", "a gateway (fleet.gateway) has none");
  if (config.fleet().listen().empty()) reader.Problem("fleet.gateway", "needs fleet.listen");
}

void ReadTimes(const config::v1::Fleet& fleet, OptionReader& reader, FleetOptions& out) {
  out.beat = FromProtoDuration(fleet.beat());
  out.silence = FromProtoDuration(fleet.silence());
  out.lease = FromProtoDuration(fleet.lease());
  out.max_clock_skew = FromProtoDuration(fleet.max_clock_skew());
  const auto check = [&](const char* key, absl::Duration value, absl::Duration least,
                         const char* what) {
    if (value >= least) return;
    reader.Problem(key, absl::StrCat("must be at least ", what, " (", absl::FormatDuration(least),
                                     "): ", absl::FormatDuration(value)));
  };
  check("fleet.silence", out.silence, 3 * out.beat, "three beats");
  check("fleet.lease", out.lease, out.silence, "silence");
}

}  // namespace

void ReadFleet(const config::v1::ServerConfig& config, OptionReader& reader, ServerOptions& out) {
  const config::v1::Fleet& fleet = config.fleet();
  out.fleet.name = fleet.name();
  out.fleet.node = fleet.node();
  if (!config.data().replica().empty()) {
    reader.Problem("data.replica", "belongs to a server that is alone: leave it out beside fleet");
  }
  const Address advertised = AddressOf(fleet.advertise());
  if (advertised.host == "0.0.0.0" || advertised.host == "::") {
    reader.Problem("fleet.advertise",
                   absl::StrCat("must be an address at which others reach this server: ",
                                advertised.ToString()));
  }
  out.fleet.advertise = fleet.advertise();
  out.fleet.gateway = fleet.gateway();
  out.fleet.encrypt_prompts_key_file = fleet.encrypt_prompts_key_file();
  ReadListener(fleet, reader, out);
  CheckGateway(config, reader);
  out.fleet.nats = ReadNats(fleet.nats(), reader);
  if (fleet.has_objects()) out.fleet.objects = ReadObjects(fleet.objects(), reader);
  ReadTimes(fleet, reader, out.fleet);
}

}  // namespace reel::front
