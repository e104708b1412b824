// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/log_access.h"

#include <cstdlib>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace reel::front {
namespace {

// What libnats says of this thread's last failure; it may say nothing.
std::string LastError() {
  natsStatus status = NATS_OK;
  const char* const text = nats_GetLastError(&status);
  return text == nullptr ? "" : text;
}

absl::Status Unusable(const char* field, const std::string& file) {
  return absl::FailedPreconditionError(
      absl::StrCat("fleet.nats.", field, " cannot be used: ", file, ": ", LastError()));
}

std::string NameOfWho(const FleetLogOptions& options) {
  if (!options.nkey_public.empty()) return absl::StrCat("key ", options.nkey_public);
  if (!options.user.empty()) return absl::StrCat("user ", options.user);
  return "connection without a key or a user";
}

}  // namespace

natsStatus SignNonce(char**, unsigned char** signature, int* size, const char* nonce, void* seed) {
  const natsStatus status =
      nats_Sign(static_cast<const std::string*>(seed)->c_str(), nonce, signature, size);
  if (status != NATS_OK || (*signature)[0] != 0) return status;
  std::free(*signature);
  *signature = nullptr;
  return NATS_ERR;
}

bool IsEncrypted(const FleetLogOptions& options) {
  return !options.urls.empty() && absl::StartsWith(options.urls.front(), "tls://");
}

absl::Status SetAccess(const FleetLogOptions& options, natsOptions& out) {
  if (!options.user.empty()) {
    natsOptions_SetUserInfo(&out, options.user.c_str(), options.password.c_str());
  }
  if (!options.nkey_seed.empty()) {
    // Not by its file: one that is replaced would no longer fit the public half.
    natsOptions_SetNKey(&out, options.nkey_public.c_str(), SignNonce,
                        const_cast<std::string*>(&options.nkey_seed));
  }
  if (!IsEncrypted(options)) return absl::OkStatus();
  // Without it a server that speaks no TLS would be taken.
  natsOptions_SetSecure(&out, true);
  if (natsOptions_LoadCATrustedCertificates(&out, options.ca_file.c_str()) != NATS_OK) {
    return Unusable("ca_file", options.ca_file);
  }
  if (options.certificate_file.empty()) return absl::OkStatus();
  if (natsOptions_LoadCertificatesChain(&out, options.certificate_file.c_str(),
                                        options.key_file.c_str()) != NATS_OK) {
    return Unusable("certificate_file", options.certificate_file);
  }
  return absl::OkStatus();
}

absl::Status RefusedConnection(const FleetLogOptions& options, natsStatus status) {
  const std::string text = LastError();
  if (status == NATS_CONNECTION_AUTH_FAILED) {
    return absl::PermissionDeniedError(
        absl::StrCat("The NATS servers refuse this server (fleet.nats): ", NameOfWho(options)));
  }
  if (status == NATS_SECURE_CONNECTION_WANTED) {
    return absl::FailedPreconditionError(
        absl::StrCat("A NATS server speaks no TLS: fleet.nats.urls says tls:// (", text, ")"));
  }
  if (status == NATS_SECURE_CONNECTION_REQUIRED) {
    return absl::FailedPreconditionError(
        absl::StrCat("A NATS server wants TLS: fleet.nats.urls must say tls:// (", text, ")"));
  }
  return absl::UnavailableError(
      absl::StrCat("no NATS server can be connected: ", natsStatus_GetText(status),
                   text.empty() ? "" : ": ", text));
}

}  // namespace reel::front
