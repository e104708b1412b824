// SPDX-License-Identifier: Apache-2.0
// Objects by key, as the servers of a fleet share them: results, and what requests came with.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"

namespace reel::front {

// Bytes of a local file that become an object, or are one.
struct ObjectFile {
  std::string path;
  int64_t size = 0;
  std::string sha256;  // lower-case hex
  std::string content_type;
};

struct ObjectFacts {
  int64_t size = 0;
  std::string sha256;  // as its writer said; empty: it did not
};

struct ObjectEntry {
  std::string key;
  int64_t size = 0;
  absl::Time changed;  // by the store's clock
};

// Sorted by key.
struct ObjectPage {
  std::vector<ObjectEntry> objects;
  bool more = false;
};

// A key is made of A-Z, a-z, 0-9 and ._~/-, begins with none of ./ and has no empty part: nothing
// of it needs to be encoded.
bool IsLegalKey(std::string_view key);

// Thread-safe. Each call waits for the store, for a time that is bounded by what it moves, and ends
// with
//   UNAVAILABLE          out of reach, too slow, or it cannot do it now
//   PERMISSION_DENIED    it refuses the credentials, or they cannot be read
//   FAILED_PRECONDITION  it has no such bucket
//   RESOURCE_EXHAUSTED   it is full
//   NOT_FOUND            it has no such object
//   ALREADY_EXISTS       under the key lies something else
//   DATA_LOSS            the bytes are not those of which the hash was said
//   INVALID_ARGUMENT     the key is none
//   CANCELLED            Stop was called
// All but the last four may be otherwise later.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  // Written once, all or nothing. OK as well when the same bytes lie there already.
  virtual absl::Status PutFile(const std::string& key, const ObjectFile& file) = 0;
  virtual absl::Status PutBytes(const std::string& key, std::string_view bytes,
                                const std::string& content_type) = 0;
  // At most `size` bytes, fewer at the end; OUT_OF_RANGE behind it.
  virtual absl::StatusOr<std::string> Get(const std::string& key, int64_t offset, int64_t size) = 0;
  virtual absl::StatusOr<ObjectFacts> Head(const std::string& key) = 0;
  // OK as well when there is none.
  virtual absl::Status Delete(const std::string& key) = 0;
  // Those whose keys begin so and come after `after`, a page of them.
  virtual absl::StatusOr<ObjectPage> List(const std::string& prefix, const std::string& after) = 0;

  // Calls under way end within a second or so, later ones at once.
  // On this server's own disk; thread-safe.
  virtual int64_t OwnBytes() const { return 0; }
  virtual void Stop() = 0;
};

// Threads for what has to wait for an object store, so that none that decides does.
// Thread-safe.
class TaskPool {
 public:
  using Task = absl::AnyInvocable<void()>;
  // `most_waiting`: of tasks that no thread has begun.
  TaskPool(int threads, size_t most_waiting);
  // Waits for those that run; those that wait are dropped.
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  // In order. False: too many wait, and it was not taken.
  bool Put(Task task);

 private:
  void Run();

  const size_t most_waiting_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace reel::front
