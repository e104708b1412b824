// SPDX-License-Identifier: Apache-2.0
#include "client/sha256.h"

#include <openssl/evp.h>

#include "absl/strings/escaping.h"

namespace reel::client {

struct Sha256::Context {
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> evp{EVP_MD_CTX_new()};
};

Sha256::Sha256() : context_(std::make_unique<Context>()) { Reset(); }
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::Reset() { EVP_DigestInit_ex(context_->evp.get(), EVP_sha256(), nullptr); }

void Sha256::Update(std::string_view data) {
  EVP_DigestUpdate(context_->evp.get(), data.data(), data.size());
}

std::string Sha256::Hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_DigestFinal_ex(context_->evp.get(), digest, &size);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), size));
}

}  // namespace reel::client
