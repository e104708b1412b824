// SPDX-License-Identifier: Apache-2.0
// Media files, one per attempt of a job, and the pictures that jobs were given. Ids are those that
// this server made; anything else in a name is refused.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace reel::front {

class FileOps;

// An open file. Thread-safe; stays readable when the file is removed.
class MediaReader {
 public:
  virtual ~MediaReader() = default;
  // At most `max_bytes` from `offset`; fewer at the end. DATA_LOSS when the disk cannot deliver, or
  // delivers what is not in the seal.
  virtual absl::StatusOr<std::string> Read(int64_t offset, int64_t max_bytes) const = 0;
};

// Checksums of a complete file: a CRC-32C of each block of kMediaBlockBytes, the last one shorter.
// So any part of it can be checked by what is read for it, and nothing damaged leaves.
inline constexpr int64_t kMediaBlockBytes = 64 << 10;
using BlockSums = std::vector<uint32_t>;

// A complete file.
struct MediaDigest {
  int64_t size = 0;
  std::string sha256;  // lower-case hex
  BlockSums blocks;
};

// What a complete file must be.
struct MediaSeal {
  int64_t size = 0;
  BlockSums blocks;  // empty: unknown, and nothing but the size is checked
};

// Of a disk without a limit of its own so much stays free for others, or a tenth where that is
// less.
inline constexpr int64_t kMostLeftFree = int64_t{8} << 30;

struct DiskUsage {
  int64_t stored_bytes = 0;
  int64_t limit_bytes = 0;
  int64_t left_free_bytes = 0;  // 0: the limit is one that was set
  bool full() const { return stored_bytes >= limit_bytes; }
};

// Ids that begin so are of no video: their files go when a store is opened again.
inline constexpr char kScratchFile[] = "scratch--";

// Calls return at once but for Append, which waits while too many bytes are before the disk.
// They are carried out in order on the media thread, and answered there. A write that fails is
// STORE_FULL for want of room (also above max_bytes), else INTERNAL; the partial file is removed.
class MediaStore {
 public:
  using Done = absl::AnyInvocable<void(absl::Status)>;
  template <typename T>
  using Reply = absl::AnyInvocable<void(absl::StatusOr<T>)>;
  using Blob = std::shared_ptr<const std::string>;

  virtual ~MediaStore() = default;

  // From here on the file takes bytes.
  virtual void Begin(const std::string& id, int attempt) = 0;
  // Answers the size after it. ABORTED for a file that takes none; `offset` must be its size.
  virtual void Append(const std::string& id, int attempt, int64_t offset, std::string bytes,
                      Reply<int64_t> reply) = 0;
  // Synced and hashed; takes no more bytes.
  virtual void Finish(const std::string& id, int attempt, Reply<MediaDigest> reply) = 0;
  // Removes the file, complete or not.
  virtual void Remove(const std::string& id, int attempt, Done done) = 0;

  // Any thread. DATA_LOSS MEDIA_CORRUPT when the file is gone or has another size than expected.
  // `seal`: of a complete file.
  virtual absl::StatusOr<std::shared_ptr<const MediaReader>> Open(
      const std::string& id, int attempt, std::optional<MediaSeal> seal) const = 0;

  // Synced, all or none.
  // Any thread. Where the file is, for a program that reads it.
  virtual std::string PathOf(const std::string& id, int attempt) const = 0;

  virtual void PutConditions(const std::string& id, std::vector<Blob> blobs, Done done) = 0;
  virtual void ReadConditions(const std::string& id, int count, Reply<std::vector<Blob>> reply) = 0;
  virtual void RemoveConditions(const std::string& id, int count) = 0;

  // At start, before anything else. `kept` has every video that is known; of these, files beyond
  // what is said here are removed. Files of others are moved to quarantine/ (see StrayFiles) and
  // counted in one line of the log; those of known videos come back from there.
  struct Kept {
    std::string id;
    int attempt = 0;         // 0: no media
    int num_conditions = 0;  // 0: none
  };
  // Answers the bytes of conditions by id.
  virtual absl::StatusOr<std::map<std::string, int64_t>> KeepOnly(const std::vector<Kept>& kept,
                                                                  absl::Time now) = 0;

  // Any thread. Bytes of files, complete and growing, and of conditions, against what they may be.
  virtual DiskUsage Usage() const = 0;
};

struct MediaStoreOptions {
  std::string folder;                     // holds media/ and conditions/
  int64_t max_bytes = 0;                  // 0: the disk, see kMostLeftFree
  int64_t max_waiting_bytes = 8ll << 20;  // before the disk; above it Append waits
  // Of others in the same folder, which `max_bytes` bounds, too; null: there are none. Any thread.
  std::function<int64_t()> other_bytes = nullptr;
};

// `ops` outlives the store. The destructor finishes what was called.
absl::StatusOr<std::unique_ptr<MediaStore>> OpenMediaStore(const MediaStoreOptions& options,
                                                           FileOps& ops);

}  // namespace reel::front
