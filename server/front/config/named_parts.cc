// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/named_parts.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/program/nearest_path.h"
#include "kernels/dispatch/device_name.h"
#include "reel/config/v1/config.pb.h"
#include "server/front/config/secret_files.h"
#include "server/front/config/tls_files.h"
#include "server/front/workers/file_descriptor.h"

namespace reel::front {

absl::StatusOr<std::string> PathBelow(const std::string& root, const std::string& file) {
  const auto error = [&](const char* why) {
    return absl::StrCat("cannot be read: '", file, "' below '", root, "': ", why);
  };
  const FileDescriptor folder(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) return absl::NotFoundError(error(strerror(errno)));
  struct open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const FileDescriptor opened(
      static_cast<int>(syscall(SYS_openat2, folder.get(), file.c_str(), &how, sizeof(how))));
  if (opened.get() < 0) {
    if (errno == EXDEV) return absl::InvalidArgumentError(error("it leads out of that folder"));
    return absl::NotFoundError(error(strerror(errno)));
  }
  struct stat info = {};
  if (fstat(opened.get(), &info) != 0) return absl::NotFoundError(error(strerror(errno)));
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(error("it is no regular file"));
  std::error_code failed;
  const auto real =
      std::filesystem::read_symlink(absl::StrCat("/proc/self/fd/", opened.get()), failed);
  if (failed) return absl::NotFoundError(error(failed.message().c_str()));
  return real.string();
}

std::vector<std::string> ResolveAdapters(config::v1::ServerConfig& config) {
  std::vector<std::string> problems;
  for (int i = 0; i < config.adapters_size(); ++i) {
    config::v1::Adapter& adapter = *config.mutable_adapters(i);
    absl::StatusOr<std::string> path = PathBelow(config.adapter_root(), adapter.file());
    if (path.ok()) {
      adapter.set_file(*std::move(path));
    } else {
      problems.push_back(absl::StrCat("adapters[", i, "].file: ", path.status().message()));
    }
  }
  return problems;
}

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
