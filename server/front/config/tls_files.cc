// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/tls_files.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "reel/config/v1/config.pb.h"
#include "server/front/config/secret_files.h"

namespace reel::front {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using BioPtr = std::unique_ptr<BIO, Free>;
using CertificatePtr = std::unique_ptr<X509, Free>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Free>;

// An encrypted key would have its password asked for on the terminal.
int NoPassword(char*, int, int, void*) { return -1; }

BioPtr Over(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

CertificatePtr FirstCertificate(const std::string& pem) {
  return CertificatePtr(PEM_read_bio_X509(Over(pem).get(), nullptr, NoPassword, nullptr));
}

KeyPtr PrivateKey(const std::string& pem) {
  return KeyPtr(PEM_read_bio_PrivateKey(Over(pem).get(), nullptr, NoPassword, nullptr));
}

absl::Time EndOf(const X509* certificate) {
  std::tm end{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) != 1) return absl::InfiniteFuture();
  return absl::FromTM(end, absl::UTCTimeZone());
}

}  // namespace

TlsOptions TlsOptionsOf(const config::v1::Tls& tls) {
  return {tls.certificate_file(), tls.key_file(), tls.client_ca_file()};
}

std::vector<std::string> ReadTlsFiles(const TlsOptions& options, TlsFiles& files,
                                      const TlsKeys& keys) {
  std::vector<std::string> problems;
  // False also where no file is named.
  const auto read = [&](const char* field, const std::string& path, std::string& text) {
    if (path.empty()) return false;
    auto content = ReadSmallFile(path);
    if (content.ok()) {
      text = *std::move(content);
    } else {
      problems.push_back(absl::StrCat(field, ": ", std::string(content.status().message())));
    }
    return content.ok();
  };
  CertificatePtr certificate;
  KeyPtr key;
  if (read(keys.certificate, options.certificate_file, files.certificates) &&
      (certificate = FirstCertificate(files.certificates)) == nullptr) {
    problems.push_back(absl::StrCat(
        keys.certificate, ": The file holds no certificate (PEM): ", options.certificate_file));
  }
  if (read(keys.key, options.key_file, files.key) && (key = PrivateKey(files.key)) == nullptr) {
    problems.push_back(absl::StrCat(
        keys.key, ": The file holds no private key (PEM, not encrypted): ", options.key_file));
  }
  if (certificate != nullptr) files.valid_until = EndOf(certificate.get());
  if (certificate != nullptr && key != nullptr &&
      X509_check_private_key(certificate.get(), key.get()) != 1) {
    problems.push_back(absl::StrCat(keys.key, ": The key is not that of the first certificate: ",
                                    options.key_file, " for ", options.certificate_file));
  }
  if (read(keys.ca, options.client_ca_file, files.client_ca) &&
      FirstCertificate(files.client_ca) == nullptr) {
    problems.push_back(
        absl::StrCat(keys.ca, ": The file holds no certificate (PEM): ", options.client_ca_file));
  }
  ERR_clear_error();  // of the thread: what failed here is told above
  return problems;
}

}  // namespace reel::front
