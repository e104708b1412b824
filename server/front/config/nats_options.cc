// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/nats_options.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "reel/config/v1/config.pb.h"
#include "server/front/config/key_pair_file.h"
#include "server/front/config/nkey_seed.h"
#include "server/front/config/secret_file.h"
#include "server/front/config/tls_files.h"

namespace reel::front {
namespace {

constexpr absl::string_view kPlainNats = "nats://";
constexpr absl::string_view kEncryptedNats = "tls://";

bool IsEncrypted(const std::string& url) { return absl::StartsWith(url, kEncryptedNats); }

void ReadUrl(const std::string& key, const std::string& url, bool insecure, OptionReader& reader) {
  const bool plain = absl::StartsWith(url, kPlainNats);
  if (!plain && !IsEncrypted(url)) {
    return reader.Problem(key, absl::StrCat("must be tls://HOST:PORT: '", url, "'"));
  }
  if (absl::StrContains(url, "@")) {
    // Not shown: it has a password.
    return reader.Problem(key,
                          "must have no user and no password: they belong into credentials_file");
  }
  const Address address =
      reader.ReadAddress(key, url.substr(plain ? kPlainNats.size() : kEncryptedNats.size()));
  if (address.host.empty()) return;
  if (address.port == 0) reader.Problem(key, "the port must be 1..65535");
  if (plain && !address.loopback() && !insecure) {
    reader.Problem(key, absl::StrCat("is reached without encryption (", address.ToString(),
                                     "): tls://, or set insecure where the network encrypts"));
  }
}

void CheckTls(const NatsOptions& nats, OptionReader& reader) {
  const auto encrypted = std::count_if(nats.urls.begin(), nats.urls.end(), IsEncrypted);
  const bool all = encrypted == static_cast<std::ptrdiff_t>(nats.urls.size());
  if (encrypted > 0 && !all) {
    reader.Problem("fleet.nats.urls", "must all be tls://, or none");
  }
  if (encrypted > 0 && nats.ca_file.empty()) {
    reader.Problem("fleet.nats.ca_file",
                   "must name the authority of the servers' certificates (PEM)");
  }
  if (nats.certificate_file.empty() != nats.key_file.empty()) {
    reader.Problem("fleet.nats.certificate_file", "needs key_file, and that needs it");
  }
  if (encrypted > 0) return;
  if (!nats.ca_file.empty()) reader.Problem("fleet.nats.ca_file", "needs tls:// in urls");
  if (!nats.certificate_file.empty()) {
    reader.Problem("fleet.nats.certificate_file", "needs tls:// in urls");
  }
}

void AddProblem(const char* key, const absl::Status& status, std::vector<std::string>& problems) {
  if (!status.ok()) problems.push_back(absl::StrCat(key, ": ", status.message()));
}

}  // namespace

NatsOptions ReadNats(const config::v1::Nats& nats, OptionReader& reader) {
  NatsOptions out;
  out.urls = {nats.urls().begin(), nats.urls().end()};
  for (size_t i = 0; i < out.urls.size(); ++i) {
    ReadUrl(absl::StrCat("fleet.nats.urls[", i, "]"), out.urls[i], nats.insecure(), reader);
  }
  out.ca_file = nats.ca_file();
  out.certificate_file = nats.certificate_file();
  out.key_file = nats.key_file();
  CheckTls(out, reader);
  out.credentials_file = nats.credentials_file();
  out.nkey_seed_file = nats.nkey_seed_file();
  if (!out.credentials_file.empty() && !out.nkey_seed_file.empty()) {
    reader.Problem("fleet.nats.nkey_seed_file", "leave it out beside credentials_file");
  }
  out.replicas = nats.replicas();
  out.max_bytes = nats.max_bytes();
  return out;
}

std::vector<std::string> CheckNatsFiles(const NatsOptions& nats) {
  TlsFiles files;
  std::vector<std::string> problems =
      ReadTlsFiles({nats.certificate_file, nats.key_file, nats.ca_file}, files,
                   {"fleet.nats.certificate_file", "fleet.nats.key_file", "fleet.nats.ca_file"});
  if (!files.key.empty()) {
    AddProblem("fleet.nats.key_file", CheckSecretFile(nats.key_file), problems);
  }
  if (!nats.credentials_file.empty()) {
    AddProblem("fleet.nats.credentials_file", ReadKeyPair(nats.credentials_file).status(),
               problems);
  }
  if (!nats.nkey_seed_file.empty()) {
    AddProblem("fleet.nats.nkey_seed_file", ReadNKeySeed(nats.nkey_seed_file).status(), problems);
  }
  return problems;
}

}  // namespace reel::front
