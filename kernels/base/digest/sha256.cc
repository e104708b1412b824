// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/digest/sha256.h"

#include <openssl/evp.h>

#include "absl/strings/escaping.h"

namespace reel {

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

void Sha256::Update(std::string_view bytes) {
  EVP_DigestUpdate(context_->evp.get(), bytes.data(), bytes.size());
}

Sha256Digest Sha256::Digest() {
  Sha256Digest digest{};
  EVP_DigestFinal_ex(context_->evp.get(), digest.data(), nullptr);
  return digest;
}

std::string Sha256::Hex() {
  const Sha256Digest digest = Digest();
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

Sha256Digest Sha256Of(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Digest();
}

std::string Sha256Hex(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Hex();
}

}  // namespace reel
