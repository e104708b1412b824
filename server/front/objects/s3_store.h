// SPDX-License-Identifier: Apache-2.0
// An object store that speaks S3, by path: ENDPOINT/BUCKET/KEY, signed by AWS's version 4.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/base/mutex.h"
#include "server/front/curl/curl.h"
#include "server/front/objects/object_store.h"
#include "server/front/objects/store_call.h"

namespace reel::front {

// Reads XML answers, as far as they are needed. Hostile text gives an error or less.

// What the first element of that name has, if it is text; entities stay as they are.
std::optional<std::string> TextOf(std::string_view xml, std::string_view name);

// Of ListObjectsV2. Objects whose keys are not legal are left out: they are nobody's here.
absl::StatusOr<ObjectPage> ReadListAnswer(std::string_view xml);

// The error of an answer that is no success, in this server's terms; `place`: where it was asked,
// for the message.
absl::Status RefusalOf(const StoreAnswer& answer, const std::string& place);

struct S3Options {
  std::string endpoint;  // "https://HOST[:PORT]"
  std::string bucket;
  std::string region;
  std::string credentials_file;
  StoreLimits limits = {};
};

// No call may be under way when it ends.
class S3Store final : public ObjectStore {
 public:
  explicit S3Store(S3Options options);

  absl::Status PutFile(const std::string& key, const ObjectFile& file) override;
  absl::Status PutBytes(const std::string& key, std::string_view bytes,
                        const std::string& content_type) override;
  absl::StatusOr<std::string> Get(const std::string& key, int64_t offset, int64_t size) override;
  absl::StatusOr<ObjectFacts> Head(const std::string& key) override;
  absl::Status Delete(const std::string& key) override;
  absl::StatusOr<ObjectPage> List(const std::string& prefix, const std::string& after) override;
  void Stop() override { stopping_ = true; }

 private:
  // A call without a body; `key` empty: of the bucket.
  StoreCall CallOf(StoreCall::Method method, const std::string& key) const;
  absl::Status Put(const std::string& key, StoreCall call, const ObjectFacts& facts,
                   const std::string& content_type);
  // Any answer.
  absl::StatusOr<StoreAnswer> Ask(const StoreCall& call);
  std::string PlaceOf(const std::string& key) const;
  CurlHandle Take();
  void GiveBack(CurlHandle handle);

  const S3Options options_;
  const CurlLibrary library_;
  StoreCredentials credentials_;
  std::atomic<bool> stopping_ = false;
  Mutex mutex_;
  std::vector<CurlHandle> idle_ ABSL_GUARDED_BY(mutex_);  // with connections that may still live
};

}  // namespace reel::front
