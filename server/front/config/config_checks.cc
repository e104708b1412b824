// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/config_checks.h"

#include "reel/config/v1/config.pb.h"
#include "server/convert/proto_duration.h"
#include "server/front/config/address.h"
#include "server/front/config/collector_address.h"
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

}  // namespace reel::front
