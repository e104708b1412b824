// SPDX-License-Identifier: Apache-2.0
// Objects in a folder of this server, for one that is alone. Names of files are hashes of keys, and
// each block of a file is checked when it is read.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "kernels/base/mutex.h"
#include "server/front/objects/object_store.h"
#include "server/front/store/media_file.h"

namespace reel::front {

// An object is two files: its bytes, and beside them, written last, its key with sizes and sums.
class FileStore final : public ObjectStore {
 public:
  // Makes the folder where there is none; no other process uses it. What a crash has left half
  // written goes. `ops` outlives the store.
  static absl::StatusOr<std::unique_ptr<FileStore>> Open(const std::string& folder, FileOps& ops);

  absl::Status PutFile(const std::string& key, const ObjectFile& file) override;
  absl::Status PutBytes(const std::string& key, std::string_view bytes,
                        const std::string& content_type) override;
  // DATA_LOSS as well: the disk does not deliver what was written.
  absl::StatusOr<std::string> Get(const std::string& key, int64_t offset, int64_t size) override;
  absl::StatusOr<ObjectFacts> Head(const std::string& key) override;
  absl::Status Delete(const std::string& key) override;
  absl::StatusOr<ObjectPage> List(const std::string& prefix, const std::string& after) override;
  int64_t OwnBytes() const override { return bytes_; }
  void Stop() override;

 private:
  struct Object {
    MediaDigest digest;
    absl::Time changed;
  };
  FileStore(std::string path, Descriptor folder, FileOps& ops)
      : path_(std::move(path)), folder_(std::move(folder)), ops_(ops) {}
  absl::Status ReadFolder();
  // Appends the object's bytes to a writer.
  using Fill = absl::FunctionRef<absl::Status(MediaWriter&)>;
  absl::Status Put(const std::string& key, const std::string& sha256, Fill fill);
  absl::StatusOr<MediaDigest> WriteObject(const std::string& key, const std::string& sha256,
                                          Fill fill);
  absl::Status WriteFacts(const std::string& key, const Object& object);
  void RemoveFiles(const std::string& name);
  absl::StatusOr<Object> Find(const std::string& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string path_;
  const Descriptor folder_;
  FileOps& ops_;
  Mutex writes_;  // held while files are made or removed; before mutex_
  Mutex mutex_;
  std::map<std::string, Object> objects_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<int64_t> bytes_ = 0;  // of objects_
};

}  // namespace reel::front
