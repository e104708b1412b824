// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/tls_credentials.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "kernels/base/mutex.h"
#include "server/front/api/tls_watch.h"

namespace reel::front {
namespace {

// Note: [Certificates by connection] gRPC 1.51's FileWatcherCertificateProvider hands on whatever
// the files hold. A certificate that was written before its key, or a broken one, ended every new
// connection until the next good look, ten seconds later or more. gRPC's core also has a question
// that it asks at each handshake, which the C++ library does not wrap; this does.
class TlsCredentials final : public grpc::ServerCredentials {
 public:
  TlsCredentials(const TlsOptions& options, std::function<void(absl::Time)> valid_until)
      : watch_(options, std::move(valid_until)) {}

  // What the files hold, when that is new; their problems, when they have some.
  std::vector<std::string> Load() {
    MutexLock lock(mutex_);
    return watch_.Look(fresh_);
  }

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    grpc_server_credentials* const credentials = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(
            watch_.options().client_ca_file.empty()
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
    if (auto renewed = watch_.Renewed()) fresh_ = std::move(renewed);
    if (!fresh_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    const grpc_ssl_pem_key_cert_pair pair = {fresh_->key.c_str(), fresh_->certificates.c_str()};
    // gRPC's core aborts without roots, though it looks at them only where clients must show a
    // certificate.
    const bool mutual = !watch_.options().client_ca_file.empty();
    const std::string& roots = mutual ? fresh_->client_ca : fresh_->certificates;
    *config = grpc_ssl_server_certificate_config_create(roots.c_str(), &pair, 1);
    fresh_.reset();
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  TlsWatch watch_;
  Mutex mutex_;
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
