// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/seal.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/digest/sha256.h"

namespace reel::front {
namespace {

// No protobuf message begins with a zero byte.
constexpr std::string_view kMark("\0reel\1", 6);
constexpr size_t kIdBytes = 8;
constexpr size_t kNonceBytes = 12;
constexpr size_t kTagBytes = 16;
constexpr size_t kHeadBytes = kMark.size() + kIdBytes;
static_assert(kHeadBytes + kNonceBytes + kTagBytes == static_cast<size_t>(Seal::kOverhead));
// libcrypto counts in int.
constexpr size_t kMostAtOnce = size_t{1} << 30;

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};

const uint8_t* BytesOf(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}
uint8_t* BytesOf(std::string& text) { return reinterpret_cast<uint8_t*>(text.data()); }

// Fails only without memory; the process then ends rather than write plain text.
std::string Hmac(std::string_view key, std::string_view bytes) {
  std::string out(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), BytesOf(bytes), bytes.size(),
           BytesOf(out), &size) == nullptr) {
    std::abort();
  }
  out.resize(size);
  return out;
}

// AES-256-GCM, encrypting or decrypting.
class Cipher {
 public:
  Cipher(std::string_view key, std::string_view nonce, bool encrypts)
      : context_(EVP_CIPHER_CTX_new()) {
    good_ = context_ != nullptr &&
            EVP_CipherInit_ex(context_.get(), EVP_aes_256_gcm(), nullptr, BytesOf(key),
                              BytesOf(nonce), encrypts ? 1 : 0) == 1;
  }
  // Authenticates bytes without encrypting them. Comes before everything else.
  void Bind(std::string_view bytes) { Update(bytes, nullptr); }
  std::string Run(std::string_view bytes) {
    std::string out(bytes.size(), '\0');
    Update(bytes, BytesOf(out));
    return out;
  }
  std::string FinishTag() {
    std::string tag(kTagBytes, '\0');
    Finish();
    good_ = good_ &&
            EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, tag.data()) == 1;
    return tag;
  }
  bool FinishBy(std::string tag) {
    good_ = good_ &&
            EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1;
    Finish();
    return good_;
  }
  bool good() const { return good_; }

 private:
  void Update(std::string_view bytes, uint8_t* out) {
    for (size_t done = 0; good_ && done < bytes.size(); done += kMostAtOnce) {
      const std::string_view piece = bytes.substr(done, kMostAtOnce);
      int size = 0;
      good_ = EVP_CipherUpdate(context_.get(), out == nullptr ? nullptr : out + done, &size,
                               BytesOf(piece), static_cast<int>(piece.size())) == 1;
    }
  }
  // A stream cipher has no remaining block.
  void Finish() {
    uint8_t none[EVP_MAX_BLOCK_LENGTH];
    int size = 0;
    good_ = good_ && EVP_CipherFinal_ex(context_.get(), none, &size) == 1;
  }

  std::unique_ptr<EVP_CIPHER_CTX, FreeContext> context_;
  bool good_ = false;
};

}  // namespace

Seal::Seal(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    keys_.push_back({Hmac(key, "reel seal 1: id").substr(0, kIdBytes),
                     Hmac(key, "reel seal 1: encrypts"), Hmac(key, "reel seal 1: draws"),
                     Hmac(key, "reel seal 1: names")});
  }
}

std::vector<std::string> Seal::Ids() const {
  std::vector<std::string> ids;
  for (const Key& key : keys_) ids.push_back(absl::BytesToHexString(key.id));
  return ids;
}

bool Seal::IsSealed(std::string_view bytes) { return bytes.substr(0, kMark.size()) == kMark; }

// Derives the nonce from the bytes and their name with a key of its own: different inputs collide
// as rarely as random nonces do.
std::string Seal::Close(std::string_view bytes, std::string_view name) const {
  if (keys_.empty()) return std::string(bytes);
  const Key& key = keys_.front();
  const Sha256Digest digest = Sha256Of(bytes);
  std::string drawn_from(digest.begin(), digest.end());
  drawn_from += name;
  const std::string nonce = Hmac(key.draws, drawn_from).substr(0, kNonceBytes);
  const std::string head = std::string(kMark) + key.id;
  Cipher cipher(key.encrypts, nonce, true);
  cipher.Bind(head);
  cipher.Bind(name);
  const std::string closed = cipher.Run(bytes);
  const std::string tag = cipher.FinishTag();
  if (!cipher.good()) std::abort();
  return head + nonce + closed + tag;
}

absl::StatusOr<std::string> Seal::Open(std::string_view bytes, std::string_view name) const {
  if (!IsSealed(bytes)) return std::string(bytes);
  if (bytes.size() < static_cast<size_t>(kOverhead)) {
    return absl::DataLossError("encrypted bytes were cut off");
  }
  const std::string_view head = bytes.substr(0, kHeadBytes);
  const std::string_view id = head.substr(kMark.size());
  const auto key =
      std::find_if(keys_.begin(), keys_.end(), [&](const Key& known) { return known.id == id; });
  if (key == keys_.end()) {
    return absl::FailedPreconditionError(
        absl::StrCat("encrypted with a key that this server does not have: ",
                     absl::BytesToHexString(absl::string_view(id.data(), id.size()))));
  }
  Cipher cipher(key->encrypts, bytes.substr(kHeadBytes, kNonceBytes), false);
  cipher.Bind(head);
  cipher.Bind(name);
  const std::string_view closed = bytes.substr(kHeadBytes + kNonceBytes);
  std::string opened = cipher.Run(closed.substr(0, closed.size() - kTagBytes));
  if (!cipher.FinishBy(std::string(closed.substr(closed.size() - kTagBytes)))) {
    return absl::DataLossError("encrypted bytes were changed, or lay under another name");
  }
  return opened;
}

std::vector<std::string> Seal::NamesFor(std::string_view use, std::string_view hash) const {
  std::vector<std::string> names;
  const std::string meant = std::string(use) + "\n" + std::string(hash);
  for (const Key& key : keys_) names.push_back(absl::BytesToHexString(Hmac(key.names, meant)));
  names.emplace_back(hash);
  return names;
}

}  // namespace reel::front
