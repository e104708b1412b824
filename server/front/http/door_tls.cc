// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/door_tls.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "server/logging/log.h"
#include <boost/asio/buffer.hpp>

namespace reel::front {
namespace {

namespace net = boost::asio;
namespace ssl = boost::asio::ssl;

std::unique_ptr<ssl::context> ContextOf(const TlsFiles& files, bool mutual) {
  auto context = std::make_unique<ssl::context>(ssl::context::tls_server);
  boost::system::error_code code;
  context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                           ssl::context::no_sslv3 | ssl::context::no_tlsv1 |
                           ssl::context::no_tlsv1_1,
                       code);
  if (!code) context->use_certificate_chain(net::buffer(files.certificates), code);
  if (!code) context->use_private_key(net::buffer(files.key), ssl::context::pem, code);
  if (!code && mutual) context->add_certificate_authority(net::buffer(files.client_ca), code);
  if (!code && mutual) {
    context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, code);
  }
  if (!code) return context;
  Log(LogLevel::kWarning, "the certificate cannot be used; the old one stays in use",
      {{"error", code.message()}});
  return nullptr;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DoorTls>> DoorTls::Make(const TlsOptions& options) {
  std::unique_ptr<DoorTls> tls(new DoorTls(options));
  std::optional<TlsFiles> fresh;
  std::vector<std::string> problems = tls->watch_.Look(fresh);
  tls->Take(fresh);
  if (!problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems, "; "));
  if (tls->context_ == nullptr) return absl::InvalidArgumentError("tls: cannot be used");
  return tls;
}

ssl::context& DoorTls::Current() {
  Take(watch_.Renewed());
  return *context_;
}

// Connections of the context before hold OpenSSL's part of it.
void DoorTls::Take(const std::optional<TlsFiles>& fresh) {
  if (!fresh) return;
  auto context = ContextOf(*fresh, !watch_.options().client_ca_file.empty());
  if (context != nullptr) context_ = std::move(context);
}

}  // namespace reel::front
