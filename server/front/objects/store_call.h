// SPDX-License-Identifier: Apache-2.0
// One signed HTTP request to an object store: bounded in time and in bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/curl/curl_handles.h"

namespace reel::front {

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
  int status = 0;
  std::string body;
  int64_t content_length = -1;  // as the answer says; -1: it does not
  std::string sha256;           // of the field x-amz-meta-sha256
};

// On `handle`, whose connections are kept. Ends with CANCELLED soon after `stopping` is set;
// UNAVAILABLE: there was no answer, or none that is whole.
absl::StatusOr<StoreAnswer> CarryOut(CURL* handle, const StoreCall& call, const StoreSigner& signer,
                                     const StoreLimits& limits, const std::atomic<bool>& stopping);

}  // namespace reel::front
