// SPDX-License-Identifier: Apache-2.0
// Fetches results from the store in parts, a little ahead of the reader.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/base/mutex.h"
#include "server/front/node/fitness.h"
#include "server/front/objects/object_store.h"

namespace reel::front {

class SpoolFile;

// Unnamed temporary files for videos that a node copies from others, with one limit for all of
// them. The kernel frees them when the process ends.
// Thread-safe.
class Spool : public std::enable_shared_from_this<Spool> {
 public:
  Spool(std::string folder, int64_t max_bytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  absl::StatusOr<std::shared_ptr<SpoolFile>> NewFile();
  int64_t bytes() const { return bytes_; }

 private:
  friend class SpoolFile;
  bool Take(int64_t bytes);
  void Return(int64_t bytes) { bytes_ -= bytes; }

  const std::string folder_;
  const int64_t max_bytes_;
  std::atomic<int64_t> bytes_ = 0;
};

// One of those files. Readers may read what was written while one writer appends.
class SpoolFile {
 public:
  SpoolFile(std::shared_ptr<Spool> spool, int descriptor);
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  // RESOURCE_EXHAUSTED: the spool or the disk is full.
  absl::Status Append(std::string_view bytes);
  // Reads `size` bytes, which must have been appended.
  absl::StatusOr<std::string> Read(int64_t offset, int64_t size) const;

 private:
  const std::shared_ptr<Spool> spool_;
  const int descriptor_;
  int64_t size_ = 0;
};

// One object whose size is known.
struct StoredResult {
  std::string key;
  int64_t size = 0;
};

// Thread-safe.
class MediaFetches {
 public:
  using Bytes = std::shared_ptr<const std::string>;
  using Woken = absl::AnyInvocable<void()>;
  static constexpr int64_t kPartBytes = 1 << 20;
  // Limit of fetched parts. Parts in flight come on top; the pool limits those.
  static constexpr size_t kMostParts = 64;

  // Arguments outlive it; `pool` stops before it.
  MediaFetches(ObjectStore& objects, TaskPool& pool, StoreState& state)
      : objects_(objects), pool_(pool), state_(state) {}

  // The part that contains `offset`. Returns null while it is being fetched and then calls `woken`,
  // on any thread. An error is returned once; the next call retries.
  absl::StatusOr<Bytes> Read(const StoredResult& result, int64_t offset, Woken woken);

 private:
  using Part = std::pair<std::string, int64_t>;  // key, number
  struct Fetched {
    bool done = false;
    absl::Status error;
    Bytes bytes;
    std::vector<Woken> waiting;
    std::list<Part>::iterator place;  // in recent_, if done
  };
  // Returns false if too many parts are in flight.
  bool Fetch(const StoredResult& result, const Part& part) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Carry(const StoredResult& result, const Part& part);
  void Drop(const Part& part) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  ObjectStore& objects_;
  TaskPool& pool_;
  StoreState& state_;
  Mutex mutex_;
  std::map<Part, Fetched> parts_ ABSL_GUARDED_BY(mutex_);
  std::list<Part> recent_ ABSL_GUARDED_BY(mutex_);  // fetched parts, latest first
};

}  // namespace reel::front
