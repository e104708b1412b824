// SPDX-License-Identifier: Apache-2.0
// Results as the store has them, fetched in parts, a little ahead of who reads.
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

// Files without names for what a node copies from others while somebody reads it, with one bound
// for all of them together. They are gone with the process, however it ends.
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

// One writer; readers of what was written before may read at the same time.
class SpoolFile {
 public:
  SpoolFile(std::shared_ptr<Spool> spool, int descriptor);
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  // RESOURCE_EXHAUSTED: the spool or the disk is full.
  absl::Status Append(std::string_view bytes);
  // `size` bytes that were appended.
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
  // Of parts that are there; those under way come on top, of which the pool takes only so many.
  static constexpr size_t kMostParts = 64;

  // All outlive it, and what `pool` runs ends before it.
  MediaFetches(ObjectStore& objects, TaskPool& pool, StoreState& state)
      : objects_(objects), pool_(pool), state_(state) {}

  // The part with this byte; null: it is fetched, and `woken` is called, on any thread, when there
  // is something new. An error is told once, then it is tried again.
  absl::StatusOr<Bytes> Read(const StoredResult& result, int64_t offset, Woken woken);

 private:
  using Part = std::pair<std::string, int64_t>;  // key, number
  struct Fetched {
    bool done = false;
    absl::Status error;
    Bytes bytes;
    std::vector<Woken> waiting;
    std::list<Part>::iterator place;  // of what is done
  };
  // False: too much is fetched already.
  bool Fetch(const StoredResult& result, const Part& part) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Carry(const StoredResult& result, const Part& part);
  void Drop(const Part& part) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  ObjectStore& objects_;
  TaskPool& pool_;
  StoreState& state_;
  Mutex mutex_;
  std::map<Part, Fetched> parts_ ABSL_GUARDED_BY(mutex_);
  std::list<Part> recent_ ABSL_GUARDED_BY(mutex_);  // done ones, the latest first
};

}  // namespace reel::front
