// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/tls_credentials.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <sys/stat.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "kernels/base/mutex.h"
#include "server/front/config/tls_files.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

// Which version of a file this is.
struct Stamp {
  ino_t inode = 0;
  off_t size = 0;
  time_t seconds = 0;
  int64_t nanos = 0;
  bool operator==(const Stamp&) const = default;
};
using Stamps = std::array<Stamp, 3>;

Stamp StampOf(const std::string& path) {
  struct stat info{};
  if (path.empty() || ::stat(path.c_str(), &info) != 0) return {};
  return {info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

// Note: [Certificates by connection] gRPC 1.51's FileWatcherCertificateProvider hands on whatever
// the files hold: a certificate that was written before its key, or a broken one, ended every new
// connection until the next good look ten seconds later or more. gRPC's core also has a question
// that it asks at each handshake, which the C++ library does not wrap; this does.
class TlsCredentials final : public grpc::ServerCredentials {
 public:
  TlsCredentials(const TlsOptions& options, std::function<void(absl::Time)> valid_until)
      : options_(options), valid_until_(std::move(valid_until)) {}

  // What the files hold, when that is new; their problems, when they have some.
  std::vector<std::string> Load() {
    MutexLock lock(mutex_);
    return Look();
  }

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    grpc_server_credentials* const credentials = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(
            options_.client_ca_file.empty()
                ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY,
            &TlsCredentials::Ask, this));
    const int port = grpc_server_add_http2_port(server, address.c_str(), credentials);
    grpc_server_credentials_release(credentials);
    return port;
  }

  // Of each handshake, on gRPC's threads: three stat calls, and a read after a renewal.
  static grpc_ssl_certificate_config_reload_status Ask(
      void* self, grpc_ssl_server_certificate_config** config) {
    return static_cast<TlsCredentials*>(self)->Answer(config);
  }

  grpc_ssl_certificate_config_reload_status Answer(grpc_ssl_server_certificate_config** config) {
    MutexLock lock(mutex_);
    const std::vector<std::string> problems = Look();
    if (!problems.empty()) {
      Log(LogLevel::kWarning, "the renewed certificate is invalid; the old one stays in use",
          {{"error", absl::StrJoin(problems, "; ")}});
    }
    if (!fresh_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    const grpc_ssl_pem_key_cert_pair pair = {fresh_->key.c_str(), fresh_->certificates.c_str()};
    // gRPC's core aborts without roots, though it looks at them only where clients must show a
    // certificate.
    const bool mutual = !options_.client_ca_file.empty();
    const std::string& roots = mutual ? fresh_->client_ca : fresh_->certificates;
    *config = grpc_ssl_server_certificate_config_create(roots.c_str(), &pair, 1);
    fresh_.reset();
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  std::vector<std::string> Look() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const Stamps before = Now();
    if (before == seen_) return {};
    TlsFiles files;
    const std::vector<std::string> problems = ReadTlsFiles(options_, files);
    // Files that are being written are looked at again.
    if (Now() == before) seen_ = before;
    if (!problems.empty()) return problems;
    if (valid_until_) valid_until_(files.valid_until);
    fresh_ = std::move(files);
    return {};
  }

  Stamps Now() const {
    return {StampOf(options_.certificate_file), StampOf(options_.key_file),
            StampOf(options_.client_ca_file)};
  }

  const TlsOptions options_;
  const std::function<void(absl::Time)> valid_until_;
  Mutex mutex_;
  Stamps seen_ ABSL_GUARDED_BY(mutex_);
  std::optional<TlsFiles> fresh_ ABSL_GUARDED_BY(mutex_);  // good, and not yet with gRPC
};

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeTlsCredentials(
    const TlsOptions& options, std::function<void(absl::Time)> valid_until) {
  auto credentials = std::make_shared<TlsCredentials>(options, std::move(valid_until));
  const std::vector<std::string> problems = credentials->Load();
  if (!problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems, "; "));
  return credentials;
}

}  // namespace reel::front
