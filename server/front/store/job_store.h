// SPDX-License-Identifier: Apache-2.0
// Stores what must outlive the process beside media and the log of videos: jobs as rows, their
// restarts, and small blobs (model cards, the cost table). Videos are opaque bytes here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/jobs/video.h"
#include "server/front/store/media_store.h"

namespace reel::front {

// An entry of the log that a replay must show.
struct RestartRow {
  uint64_t sequence = 0;
  absl::Time time;
  std::string reason;
  int attempt = 1;
};

struct JobRow {
  std::string id;
  std::string tenant;
  VideoState state = VideoState::kQueued;
  int attempt = 1;
  int num_conditions = 0;
  absl::Time create_time;
  absl::Time expire_time = absl::InfiniteFuture();  // finite in final states
  uint64_t last_sequence = 0;                       // of the final entry
  int64_t media_bytes = 0;                          // of a finished file
  std::vector<int64_t> fragment_ends;
  BlockSums block_sums;              // of a finished file
  std::vector<RestartRow> restarts;  // only ever added to
  std::string video;
  // Of a row that a build before the log has left; read alone. Empty: none, or given free.
  std::string request_id;
  std::string spec_hash;  // of the spec as sent
};

struct PageQuery {
  std::optional<std::string> tenant;  // nullopt: of all
  std::vector<VideoState> states;     // empty: all
  absl::Time before_time = absl::InfiniteFuture();
  std::string before_id;  // empty: from the newest on, or from the oldest
  int limit = 50;
  bool oldest_first = false;  // then `before_*` is the last one of the page before, too
};

// The files of the media folder that belong to a video.
struct StoredFile {
  std::string id;
  std::string tenant;
  int attempt = 1;
  bool finished = false;
  int num_conditions = 0;
  int64_t media_bytes = 0;
};

enum class Durability {
  kSynced,  // on disk before the answer: what no log has
  kLogged,  // survives the end of the process, not that of the machine
};

// Calls return at once. Everything runs in the order in which it was called, on the store's thread.
// What waits is committed together; then the answers come, on that thread, with no lock held. An
// error answers every change of its commit.
class JobStore {
 public:
  using Done = absl::AnyInvocable<void(absl::Status)>;
  template <typename T>
  using Reply = absl::AnyInvocable<void(absl::StatusOr<T>)>;

  virtual ~JobStore() = default;

  // ALREADY_EXISTS when there is one of this id.
  virtual void Create(JobRow row, Done done) = 0;
  // Replaces all but what is fixed at creation; restarts are added.
  virtual void Update(JobRow row, Durability durability, Done done) = 0;
  virtual void Remove(std::string id, Done done) = 0;

  virtual void Find(std::string id, Reply<std::optional<JobRow>> reply) = 0;
  // Newest first; restarts are left out.
  virtual void Page(PageQuery query, Reply<std::vector<JobRow>> reply) = 0;
  // Those that were queued or running, oldest first.
  virtual void Live(Reply<std::vector<JobRow>> reply) = 0;
  // Final rows whose time has come, longest due first; without video and restarts.
  virtual void Expired(absl::Time now, int limit, Reply<std::vector<JobRow>> reply) = 0;
  virtual void Files(Reply<std::vector<StoredFile>> reply) = 0;

  virtual void PutBlob(std::string kind, std::string name, std::string value) = 0;
  virtual void Blobs(std::string kind, Reply<std::map<std::string, std::string>> reply) = 0;
};

// SQLite in the file `path` (":memory:" is legal). A damaged file is replaced by what can be read
// of it (see sqlite.h); DATA_LOSS when that is nothing. FAILED_PRECONDITION for a file of a newer
// version. The destructor finishes what was called.
absl::StatusOr<std::unique_ptr<JobStore>> OpenJobStore(const std::string& path);

}  // namespace reel::front
