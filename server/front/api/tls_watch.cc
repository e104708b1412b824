// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/tls_watch.h"

#include <sys/stat.h>

#include <utility>

#include "absl/strings/str_join.h"
#include "server/logging/log.h"

namespace reel::front {

TlsWatch::TlsWatch(const TlsOptions& options, std::function<void(absl::Time)> valid_until)
    : options_(options), valid_until_(std::move(valid_until)) {}

TlsWatch::Stamp TlsWatch::StampOf(const std::string& path) {
  struct stat info{};
  if (path.empty() || ::stat(path.c_str(), &info) != 0) return {};
  return {info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

TlsWatch::Stamps TlsWatch::Now() const {
  return {StampOf(options_.certificate_file), StampOf(options_.key_file),
          StampOf(options_.client_ca_file)};
}

std::vector<std::string> TlsWatch::Look(std::optional<TlsFiles>& fresh) {
  MutexLock lock(mutex_);
  const Stamps before = Now();
  if (before == seen_) return {};
  TlsFiles files;
  std::vector<std::string> problems = ReadTlsFiles(options_, files);
  // Files that are being written are looked at again.
  if (Now() == before) seen_ = before;
  if (!problems.empty()) return problems;
  if (valid_until_) valid_until_(files.valid_until);
  fresh = std::move(files);
  return {};
}

std::optional<TlsFiles> TlsWatch::Renewed() {
  std::optional<TlsFiles> fresh;
  const std::vector<std::string> problems = Look(fresh);
  if (!problems.empty()) {
    Log(LogLevel::kWarning, "the renewed certificate is invalid; the old one stays in use",
        {{"error", absl::StrJoin(problems, "; ")}});
  }
  return fresh;
}

}  // namespace reel::front
