// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/config_checks.h"

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "reel/config/v1/config.pb.h"
#include "server/convert/proto_duration.h"
#include "server/front/config/address.h"
#include "server/front/config/field_rules.h"

namespace reel::front {
namespace {

using config::v1::ServerConfig;

// Who calls where there are no tokens.
constexpr char kOnlyTenant[] = "default";

std::string ReachedInTheOpen(const Address& address) {
  return absl::StrCat("can be reached from other machines (", address.ToString(),
                      "): set tls, or insecure_listen where a proxy or mesh encrypts");
}

void CheckListener(const ServerConfig& config, ConfigFindings& findings) {
  const config::v1::Tls& tls = config.tls();
  const bool encrypts = !tls.certificate_file().empty();
  if (encrypts == tls.key_file().empty()) {
    findings.Problem("tls", "needs both certificate_file and key_file");
  }
  if (!tls.client_ca_file().empty() && !encrypts) {
    findings.Problem("tls.client_ca_file", "needs certificate_file and key_file");
  }
  const Address listen = AddressOf(config.listen());
  if (listen.host.empty() || listen.loopback() || encrypts) return;
  if (config.insecure_listen()) {
    findings.warnings.emplace_back("insecure_listen: calls from other machines are not encrypted");
  } else {
    findings.Problem("listen", ReachedInTheOpen(listen));
  }
}

void CheckDoor(const ServerConfig& config, ConfigFindings& findings) {
  const Address listen = AddressOf(config.http().listen());
  if (listen.host.empty()) return;
  if (config.http().tls() && config.tls().certificate_file().empty()) {
    findings.Problem("http.tls", "needs the certificate of tls");
  }
  if (config.http().tls() || listen.loopback() || config.insecure_listen()) return;
  findings.Problem("http.listen", ReachedInTheOpen(listen));
}

void CheckTenants(const config::v1::Auth& auth, ConfigFindings& findings) {
  if (!auth.tokens_file().empty()) return;
  for (int i = 0; i < auth.tenants_size(); ++i) {
    const std::string& name = auth.tenants(i).name();
    if (name == kOnlyTenant) continue;
    findings.Problem(absl::StrCat("auth.tenants[", i, "].name"),
                     absl::StrCat("needs auth.tokens_file: without it every caller is the tenant '",
                                  kOnlyTenant, "', with the role admin: '", name, "'"));
  }
}

void CheckData(const config::v1::Data& data, ConfigFindings& findings) {
  if (data.folder().empty()) {
    findings.Problem("data.folder", "must be set: neither XDG_STATE_HOME nor HOME is set");
  }
  if (data.experimental_log()) {
    findings.warnings.emplace_back("data.experimental_log: has no effect any more: leave it out");
  }
}

void CheckTiming(const config::v1::Timing& timing, ConfigFindings& findings) {
  const absl::Duration usual = FromProtoDuration(timing.default_timeout());
  const absl::Duration longest = FromProtoDuration(timing.max_timeout());
  if (usual <= longest) return;
  findings.Problem("timing.default_timeout",
                   absl::StrCat("must be at most max_timeout (", absl::FormatDuration(longest),
                                "): ", absl::FormatDuration(usual)));
}

void CheckTraces(const config::v1::Telemetry& telemetry, ConfigFindings& findings) {
  const bool names_ca = !telemetry.otlp_ca_file().empty();
  const bool names_headers = !telemetry.otlp_headers_file().empty();
  if (telemetry.otlp_endpoint().empty()) {
    const char* const needs = "needs otlp_endpoint";
    if (telemetry.trace_share() != 0) findings.Problem("telemetry.trace_share", needs);
    if (names_ca) findings.Problem("telemetry.otlp_ca_file", needs);
    if (names_headers) findings.Problem("telemetry.otlp_headers_file", needs);
    return;
  }
  const auto collector = ParseCollectorAddress(telemetry.otlp_endpoint());
  if (!collector.ok() || collector->tls) return;  // the field's format tells what is wrong
  if (names_ca) findings.Problem("telemetry.otlp_ca_file", "needs https://");
  if (names_headers && !collector->address.loopback()) {
    findings.Problem("telemetry.otlp_headers_file",
                     absl::StrCat("would be sent without encryption to ",
                                  collector->address.ToString(), ": use https://"));
  }
}

void CheckTelemetry(const config::v1::Telemetry& telemetry, ConfigFindings& findings) {
  CheckTraces(telemetry, findings);
  // What is not built must not look as if it worked.
  if (telemetry.log_prompts()) {
    findings.Problem("telemetry.log_prompts", "no log of this version shows prompts");
  }
}

}  // namespace

void CheckRoot(const std::string& key, const std::string& root, const char* entries, bool has_some,
               ConfigFindings& findings) {
  if (!root.empty() && root[0] != '/') {
    findings.Problem(key, absl::StrCat("must be an absolute path: '", root, "'"));
  }
  if (root.empty() && has_some) {
    findings.Problem(key, absl::StrCat("must be set where there are ", entries));
  }
}

ConfigFindings CheckConfig(const ServerConfig& config) {
  ConfigFindings findings{FieldProblems(config), {}};
  CheckListener(config, findings);
  CheckDoor(config, findings);
  CheckTenants(config.auth(), findings);
  CheckData(config.data(), findings);
  CheckModels(config, findings);
  CheckAdapters(config, findings);
  CheckTiming(config.timing(), findings);
  CheckTelemetry(config.telemetry(), findings);
  if (config.has_fleet()) CheckFleet(config, findings);
  return findings;
}

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
