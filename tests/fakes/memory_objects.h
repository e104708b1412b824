// SPDX-License-Identifier: Apache-2.0
// An object store in memory, that is away or full when a test says so.
#pragma once

#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>

#include "kernels/base/digest/sha256.h"
#include "kernels/base/mutex.h"
#include "server/front/objects/object_store.h"

namespace reel::testing {

// Thread-safe.
class MemoryObjects final : public front::ObjectStore {
 public:
  // What every call ends with from here on; OK: it works.
  void FailWith(absl::Status status) {
    const MutexLock lock(mutex_);
    failure_ = std::move(status);
  }
  // Called with each key before it is written.
  void OnPut(std::function<void(const std::string&)> told) {
    const MutexLock lock(mutex_);
    told_ = std::move(told);
  }
  std::map<std::string, std::string> All() {
    const MutexLock lock(mutex_);
    std::map<std::string, std::string> all;
    for (const auto& [key, object] : objects_) all[key] = object.bytes;
    return all;
  }
  // As it lies there since that time.
  void Place(const std::string& key, const std::string& bytes, absl::Time changed) {
    const MutexLock lock(mutex_);
    objects_[key] = {bytes, changed};
  }
  int gets() {
    const MutexLock lock(mutex_);
    return gets_;
  }

  absl::Status PutFile(const std::string& key, const front::ObjectFile& file) override {
    std::ifstream in(file.path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (!in || Sha256Hex(bytes) != file.sha256) return absl::DataLossError("no such bytes");
    return PutBytes(key, bytes, file.content_type);
  }
  absl::Status PutBytes(const std::string& key, std::string_view bytes,
                        const std::string&) override {
    const MutexLock lock(mutex_);
    if (!front::IsLegalKey(key)) return absl::InvalidArgumentError("no key");
    if (!failure_.ok()) return failure_;
    if (told_ != nullptr) told_(key);
    const auto [found, is_new] = objects_.try_emplace(key, Object{std::string(bytes), absl::Now()});
    return is_new || found->second.bytes == bytes ? absl::OkStatus()
                                                  : absl::AlreadyExistsError("another");
  }
  absl::StatusOr<std::string> Get(const std::string& key, int64_t offset, int64_t size) override {
    const MutexLock lock(mutex_);
    ++gets_;
    if (!failure_.ok()) return failure_;
    const auto found = objects_.find(key);
    if (found == objects_.end()) return absl::NotFoundError("no such object");
    const std::string& bytes = found->second.bytes;
    if (offset >= static_cast<int64_t>(bytes.size())) return absl::OutOfRangeError("behind");
    return bytes.substr(static_cast<size_t>(offset), static_cast<size_t>(size));
  }
  absl::StatusOr<front::ObjectFacts> Head(const std::string& key) override {
    const MutexLock lock(mutex_);
    if (!failure_.ok()) return failure_;
    const auto found = objects_.find(key);
    if (found == objects_.end()) return absl::NotFoundError("no such object");
    const std::string& bytes = found->second.bytes;
    return front::ObjectFacts{static_cast<int64_t>(bytes.size()), Sha256Hex(bytes)};
  }
  absl::Status Delete(const std::string& key) override {
    const MutexLock lock(mutex_);
    if (!failure_.ok()) return failure_;
    objects_.erase(key);
    return absl::OkStatus();
  }
  absl::StatusOr<front::ObjectPage> List(const std::string& prefix,
                                         const std::string& after) override {
    const MutexLock lock(mutex_);
    if (!failure_.ok()) return failure_;
    front::ObjectPage page;
    for (auto next = objects_.upper_bound(std::max(prefix, after)); next != objects_.end();
         ++next) {
      if (next->first.compare(0, prefix.size(), prefix) != 0) break;
      if (page.objects.size() == kPage) {
        page.more = true;
        break;
      }
      page.objects.push_back(
          {next->first, static_cast<int64_t>(next->second.bytes.size()), next->second.changed});
    }
    return page;
  }
  void Stop() override {}

 private:
  static constexpr size_t kPage = 3;
  struct Object {
    std::string bytes;
    absl::Time changed;
  };
  Mutex mutex_;
  std::map<std::string, Object> objects_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  std::function<void(const std::string&)> told_ ABSL_GUARDED_BY(mutex_);
  int gets_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace reel::testing
