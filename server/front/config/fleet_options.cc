// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/fleet_options.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "reel/config/v1/config.pb.h"
#include "server/front/config/legal_name.h"
#include "server/front/config/nats_options.h"
#include "server/front/config/object_options.h"

namespace reel::front {
namespace {

constexpr absl::Duration kShortestBeat = absl::Milliseconds(100);
constexpr absl::Duration kLeastSkew = absl::Milliseconds(100);  // asking takes some of it
constexpr absl::Duration kLongest = absl::Minutes(10);

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
  out.fleet.listen = reader.ReadAddress("fleet.listen", fleet.listen());
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
  out.beat = reader.ReadDuration("fleet.beat", fleet.beat());
  out.silence = reader.ReadDuration("fleet.silence", fleet.silence());
  out.lease = reader.ReadDuration("fleet.lease", fleet.lease());
  out.max_clock_skew = reader.ReadDuration("fleet.max_clock_skew", fleet.max_clock_skew());
  const auto check = [&](const char* key, absl::Duration value, absl::Duration least,
                         const char* what) {
    if (value >= least && value <= kLongest) return;
    reader.Problem(key,
                   absl::StrCat("must be ", what, " (", absl::FormatDuration(least), ") to ",
                                absl::FormatDuration(kLongest), ": ", absl::FormatDuration(value)));
  };
  check("fleet.beat", out.beat, kShortestBeat, "the least");
  check("fleet.silence", out.silence, 3 * out.beat, "three beats");
  check("fleet.lease", out.lease, out.silence, "silence");
  check("fleet.max_clock_skew", out.max_clock_skew, kLeastSkew, "the least");
}

}  // namespace

void ReadFleet(const config::v1::ServerConfig& config, OptionReader& reader, ServerOptions& out) {
  const config::v1::Fleet& fleet = config.fleet();
  out.fleet.name = fleet.name();
  out.fleet.node = fleet.node();
  if (!IsLegalReplica(fleet.name())) {
    reader.Problem("fleet.name",
                   absl::StrCat("must be 1 to 16 of a-z and 0-9: '", fleet.name(), "'"));
  }
  if (!IsLegalName(fleet.node())) {
    reader.Problem("fleet.node", absl::StrCat("is no legal name: '", fleet.node(), "'"));
  }
  if (!config.data().replica().empty()) {
    reader.Problem("data.replica", "belongs to a server that is alone: leave it out beside fleet");
  }
  const Address advertised = reader.ReadAddress("fleet.advertise", fleet.advertise());
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
