// SPDX-License-Identifier: Apache-2.0
// One signed HTTP request to an object store: bounded in time and in bytes.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/config/secret_files.h"
#include "server/front/curl/curl.h"

namespace reel::front {

// Credentials of the object store, from a file that is read again when it has changed.
// Thread-safe.
class StoreCredentials {
 public:
  explicit StoreCredentials(std::string path) : path_(std::move(path)) {}

  // Where the file has become bad the last good ones stay, and the log says so once.
  absl::StatusOr<KeyPair> Get();

 private:
  // Which file it is, and when it was written: a mount of secrets swaps files of one size.
  using Mark = std::tuple<dev_t, ino_t, int64_t, int64_t, int64_t, mode_t>;
  static std::optional<Mark> MarkOf(const std::string& path);

  const std::string path_;
  Mutex mutex_;
  std::optional<Mark> read_ ABSL_GUARDED_BY(mutex_);
  absl::StatusOr<KeyPair> pair_ ABSL_GUARDED_BY(mutex_) =
      absl::UnknownError("the file has not been read");
};

struct StoreCall {
  enum class Method { kGet, kHead, kPut, kDelete };
  Method method = Method::kGet;
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  // Of kPut: fills the buffer from an offset; the bytes that it has put there, or -1.
  std::function<int64_t(int64_t offset, char* buffer, size_t size)> body = nullptr;
  int64_t body_bytes = 0;
  int64_t most_bytes = 0;  // of the answer
};

struct StoreLimits {
  absl::Duration connect = absl::Seconds(5);
  absl::Duration stall = absl::Seconds(15);  // in which nothing moves
  absl::Duration call = absl::Seconds(30);   // beside what its bytes take
};

struct StoreSigner {
  std::string region, key, secret;
};

struct StoreAnswer {
  int status = 0;  // 0: unknown, since the store closed the connection before it had all of a put
  std::string body = {};
  int64_t content_length = -1;  // as the answer says; -1: it does not
  std::string sha256 = {};      // of the field x-amz-meta-sha256
};

// On `handle`, whose connections are kept. Ends with CANCELLED soon after `stopping` is set;
// UNAVAILABLE: there was no answer, or none that is whole.
absl::StatusOr<StoreAnswer> CarryOut(CURL* handle, const StoreCall& call, const StoreSigner& signer,
                                     const StoreLimits& limits, const std::atomic<bool>& stopping);

}  // namespace reel::front
