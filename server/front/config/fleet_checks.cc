// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "reel/config/v1/config.pb.h"
#include "server/convert/proto_duration.h"
#include "server/front/config/address.h"
#include "server/front/config/config_checks.h"

namespace reel::front {
namespace {

// How a service is written: encrypted, or in the open.
struct Scheme {
  const char* encrypted;
  const char* plain;
  const char* form;   // behind the encrypted one
  int ports[2] = {};  // of an encrypted and a plain address without one; 0: none
};
constexpr Scheme kBroker = {"tls://", "nats://", "HOST:PORT"};
constexpr Scheme kStore = {"https://", "http://", "HOST[:PORT]", {443, 80}};

void CheckUrl(const std::string& key, const std::string& url, const Scheme& scheme, bool insecure,
              ConfigFindings& findings) {
  const bool is_plain = absl::StartsWith(url, scheme.plain);
  if (!is_plain && !absl::StartsWith(url, scheme.encrypted)) {
    return findings.Problem(
        key, absl::StrCat("must be ", scheme.encrypted, scheme.form, ": '", url, "'"));
  }
  if (absl::StrContains(url, "@")) {
    // Not shown: it has a secret.
    return findings.Problem(key,
                            "must have no user and no secret: they belong into credentials_file");
  }
  const std::string place =
      url.substr(absl::string_view(is_plain ? scheme.plain : scheme.encrypted).size());
  if (place.find_first_of("/?#% ") != std::string::npos) {
    return findings.Problem(key,
                            absl::StrCat("must be a host and a port without a path: '", url, "'"));
  }
  const auto address = ParseAddress(place, scheme.ports[is_plain ? 1 : 0]);
  if (!address.ok()) return findings.Problem(key, std::string(address.status().message()));
  if (address->port == 0) findings.Problem(key, "the port must be 1..65535");
  if (!is_plain || address->loopback() || insecure) return;
  findings.Problem(
      key, absl::StrCat("is reached without encryption (", address->ToString(),
                        "): ", scheme.encrypted, ", or set insecure where the network encrypts"));
}

void CheckBrokers(const config::v1::Nats& nats, ConfigFindings& findings) {
  int encrypted = 0;
  for (int i = 0; i < nats.urls_size(); ++i) {
    CheckUrl(absl::StrCat("fleet.nats.urls[", i, "]"), nats.urls(i), kBroker, nats.insecure(),
             findings);
    encrypted += absl::StartsWith(nats.urls(i), kBroker.encrypted) ? 1 : 0;
  }
  if (encrypted > 0 && encrypted < nats.urls_size()) {
    findings.Problem("fleet.nats.urls", "must all be tls://, or none");
  }
  if (encrypted > 0 && nats.ca_file().empty()) {
    findings.Problem("fleet.nats.ca_file",
                     "must name the authority of the servers' certificates (PEM)");
  }
  if (nats.certificate_file().empty() != nats.key_file().empty()) {
    findings.Problem("fleet.nats.certificate_file", "needs key_file, and that needs it");
  }
  if (!nats.credentials_file().empty() && !nats.nkey_seed_file().empty()) {
    findings.Problem("fleet.nats.nkey_seed_file", "leave it out beside credentials_file");
  }
  if (encrypted > 0) return;
  if (!nats.ca_file().empty()) findings.Problem("fleet.nats.ca_file", "needs tls:// in urls");
  if (!nats.certificate_file().empty()) {
    findings.Problem("fleet.nats.certificate_file", "needs tls:// in urls");
  }
}

void CheckFleetListener(const config::v1::Fleet& fleet, ConfigFindings& findings) {
  const config::v1::Tls& tls = fleet.tls();
  if (fleet.has_tls() &&
      (tls.certificate_file().empty() || tls.key_file().empty() || tls.client_ca_file().empty())) {
    findings.Problem("fleet.tls", "needs certificate_file, key_file and client_ca_file");
  }
  if (fleet.listen().empty()) {
    if (fleet.has_tls()) findings.Problem("fleet.tls", "needs fleet.listen");
    if (fleet.insecure()) findings.Problem("fleet.insecure", "needs fleet.listen");
    if (fleet.gateway()) findings.Problem("fleet.gateway", "needs fleet.listen");
    return;
  }
  if (fleet.has_tls() && fleet.insecure()) {
    findings.Problem("fleet.insecure", "leave it out beside fleet.tls");
  }
  const Address listen = AddressOf(fleet.listen());
  if (listen.host.empty() || listen.loopback() || fleet.has_tls()) return;
  if (fleet.insecure()) {
    findings.warnings.emplace_back(
        "fleet.insecure: whoever reaches fleet.listen may see the videos of all tenants");
    return;
  }
  findings.Problem("fleet.listen",
                   absl::StrCat("can be reached from other machines (", listen.ToString(),
                                "): set fleet.tls, or fleet.insecure where the network encrypts"));
}

void CheckTimes(const config::v1::Fleet& fleet, ConfigFindings& findings) {
  const absl::Duration silence = FromProtoDuration(fleet.silence());
  const auto check = [&](const char* key, absl::Duration value, absl::Duration least,
                         const char* what) {
    if (value >= least) return;
    findings.Problem(key, absl::StrCat("must be at least ", what, " (", absl::FormatDuration(least),
                                       "): ", absl::FormatDuration(value)));
  };
  check("fleet.silence", silence, 3 * FromProtoDuration(fleet.beat()), "three beats");
  check("fleet.lease", FromProtoDuration(fleet.lease()), silence, "silence");
}

}  // namespace

void CheckFleet(const config::v1::ServerConfig& config, ConfigFindings& findings) {
  const config::v1::Fleet& fleet = config.fleet();
  if (!config.data().replica().empty()) {
    findings.Problem("data.replica",
                     "belongs to a server that is alone: leave it out beside fleet");
  }
  const Address advertised = AddressOf(fleet.advertise());
  if (advertised.host == "0.0.0.0" || advertised.host == "::") {
    findings.Problem("fleet.advertise",
                     absl::StrCat("must be an address at which others reach this server: ",
                                  advertised.ToString()));
  }
  if (fleet.gateway() && config.workers_size() > 0) {
    findings.Problem("workers", "a gateway (fleet.gateway) has none");
  }
  if (fleet.gateway() && config.models_size() > 0) {
    findings.Problem("models", "a gateway (fleet.gateway) has none");
  }
  CheckFleetListener(fleet, findings);
  CheckTimes(fleet, findings);
  CheckBrokers(fleet.nats(), findings);
  if (!fleet.has_objects() && config.state().keep() == "always") {
    findings.Problem("state.keep", "'always' needs fleet.objects, where states are kept");
  }
  if (!fleet.has_objects()) return;
  CheckUrl("fleet.objects.endpoint", fleet.objects().endpoint(), kStore, fleet.objects().insecure(),
           findings);
}

}  // namespace reel::front
