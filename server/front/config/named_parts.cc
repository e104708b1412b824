// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/named_parts.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "kernels/base/program/nearest_path.h"
#include "kernels/dispatch/device_name.h"
#include "reel/config/v1/config.pb.h"
#include "server/front/config/collector_headers.h"
#include "server/front/config/key_pair_file.h"
#include "server/front/config/nkey_seed.h"
#include "server/front/config/secret_file.h"
#include "server/front/config/tls_files.h"

namespace reel::front {
namespace {

void CheckFile(const std::string& key, const std::string& path,
               std::vector<std::string>& problems) {
  if (path.empty() || access(path.c_str(), R_OK) == 0) return;
  const std::string why = strerror(errno), nearest = NearestPath(path);
  problems.push_back(absl::StrCat(key, ": cannot be read: '", path, "': ", why,
                                  nearest.empty() ? "" : "; the nearest there is " + nearest));
}

void AddProblem(const char* key, const absl::Status& status, std::vector<std::string>& problems) {
  if (!status.ok()) problems.push_back(absl::StrCat(key, ": ", status.message()));
}

void CheckTlsFiles(const TlsOptions& tls, const TlsKeys& keys, std::vector<std::string>& problems) {
  TlsFiles files;
  for (std::string& problem : ReadTlsFiles(tls, files, keys)) {
    problems.push_back(std::move(problem));
  }
  if (!files.key.empty()) AddProblem(keys.key, CheckSecretFile(tls.key_file), problems);
}

}  // namespace

std::vector<std::string> MissingParts(const config::v1::ServerConfig& config,
                                      const std::string& cuda_library) {
  std::vector<std::string> problems;
  for (int i = 0; i < config.models_size(); ++i) {
    const config::v1::Model& model = config.models(i);
    const std::string at = absl::StrCat("models[", i, "].");
    CheckFile(at + "path", model.path(), problems);
    CheckFile(at + "manifest_file", model.manifest_file(), problems);
    CheckFile(at + "text_folder", model.text_folder(), problems);
    for (int part = 0; part < model.parts_size(); ++part) {
      CheckFile(absl::StrCat(at, "parts[", part, "].path"), model.parts(part).path(), problems);
    }
  }
  if (cuda_library.empty() || access(cuda_library.c_str(), R_OK) == 0) return problems;
  for (int i = 0; i < config.workers_size(); ++i) {
    const std::string& device = config.workers(i).device();
    const auto own = kernels::OwnDevicesOf(device);
    if (!own.ok() || own->ranks[0] == kernels::kCpuRank) continue;
    problems.push_back(absl::StrCat("workers[", i, "].device: this build has no kernels for ",
                                    device, ": there is no ", cuda_library));
  }
  return problems;
}

std::vector<std::string> WrongSecrets(const config::v1::ServerConfig& config) {
  std::vector<std::string> problems;
  CheckTlsFiles(TlsOptionsOf(config.tls()), {}, problems);
  const config::v1::Nats& nats = config.fleet().nats();
  CheckTlsFiles({nats.certificate_file(), nats.key_file(), nats.ca_file()},
                {"fleet.nats.certificate_file", "fleet.nats.key_file", "fleet.nats.ca_file"},
                problems);
  const config::v1::Telemetry& telemetry = config.telemetry();
  CheckTlsFiles({"", "", telemetry.otlp_ca_file()}, {.ca = "telemetry.otlp_ca_file"}, problems);
  if (!telemetry.otlp_headers_file().empty()) {
    AddProblem("telemetry.otlp_headers_file",
               ReadCollectorHeaders(telemetry.otlp_headers_file()).status(), problems);
  }
  const auto check_pair = [&problems](const char* key, const std::string& file) {
    if (!file.empty()) AddProblem(key, ReadKeyPair(file).status(), problems);
  };
  check_pair("fleet.nats.credentials_file", nats.credentials_file());
  check_pair("fleet.objects.credentials_file", config.fleet().objects().credentials_file());
  if (!nats.nkey_seed_file().empty()) {
    AddProblem("fleet.nats.nkey_seed_file", ReadNKeySeed(nats.nkey_seed_file()).status(), problems);
  }
  return problems;
}

}  // namespace reel::front
