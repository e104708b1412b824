// SPDX-License-Identifier: Apache-2.0
// The view: everything that one node knows of the fleet. It is the log, folded into tables that
// outlive the process; a start goes on from the position that they have reached. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/fleet/log_fold.h"
#include "server/front/fleet/log_port.h"
#include "server/front/fleet/view_store.h"
#include "server/front/fleet/view_video.h"

namespace reel::front {

class Database;
class ViewStore;

// What has become of a video.
struct ViewChange {
  bool live = false;
  bool deleted = false;  // now
};

// Told what has changed, on the tail's thread with no lock held. A view that was kept first tells
// what lives, and the bills of the hour before the last end, on the thread that opens it.
class ViewListener {
 public:
  virtual ~ViewListener() = default;
  // Messages were folded: what has become of videos, and what those that have ended were billed.
  // What request ids stand for may have changed, too.
  virtual void OnFolded(const std::map<FleetState::Key, ViewChange>& changes,
                        const std::vector<ViewBill>& bills) = 0;
  // Nothing that was known is known any more.
  virtual void OnAnew() = 0;
  // Everything that was stored a moment ago is known.
  virtual void OnCaughtUp() = 0;
};

struct ViewOptions {
  std::string file;                     // empty: it ends with the process
  std::string keys;                     // by which `reader` reads; other ones make it anew
  const VideoReader* reader = nullptr;  // outlives the view; null: videos' bytes are not read
  // The log lies in the same file (EmbeddedLog): it is durable, and is never removed or made anew.
  bool holds_log = false;
};

class FleetView final : public LogReader {
 public:
  using Key = FleetState::Key;
  // `listener` may be missing; it outlives the tail.
  explicit FleetView(ViewOptions options = {}, ViewListener* listener = nullptr);
  ~FleetView() override;

  TailStart Start() override;
  void OnStream(int64_t created) override;
  bool OnMessages(const std::vector<StoredMessage>& messages) override;
  void OnRebuild() override;
  bool OnCaughtUp(const StreamFacts& facts) override;

  // Of a view that holds its log: in one transaction `append` stores messages, which it adds to
  // what it is given, and they are folded. An error: nothing has changed. For one thread.
  using Messages = std::vector<StoredMessage>;
  absl::Status Append(absl::FunctionRef<absl::Status(Database&, Messages&)> append);
  // Why the file that is to hold the log cannot be used; the view is then empty and in memory.
  const absl::Status& opened() const { return opened_; }

  // Reads one's own writes: whether what was stored at `sequence` has been folded, within
  // `patience`.
  bool WaitFor(uint64_t sequence, absl::Duration patience);
  // Whether the view has been up to date since it was begun or begun anew, and can be read.
  bool WaitUntilReady(absl::Duration patience);
  bool ready();

  // Nobody can ask any more for what expires before `time`: soon only a trace of each stays.
  void ForgetExpired(absl::Time time);

  std::optional<FleetJob> Find(const std::string& tenant, const std::string& id);
  std::optional<ViewVideo> FindVideo(const Key& key);
  std::optional<FleetTrace> FindTrace(const std::string& tenant, const std::string& id);
  std::optional<FleetBinding> FindBinding(const std::string& tenant, const std::string& request_id);
  // Whose video it is; of several tenants' the first.
  std::optional<Key> FindId(const std::string& id);
  std::vector<ViewVideo> Page(const ViewPage& page);
  // Ids of the newest videos, at most so many, that go on from this one.
  std::vector<std::string> ContinuedBy(const Key& key, absl::Time now, int most);
  // Of kept states, by tenant.
  std::map<std::string, int64_t> StateBytes(absl::Time now);
  // How many there are, and how many have expired before their videos.
  std::pair<int64_t, int64_t> StateCounts(absl::Time now);
  // By model.
  std::map<std::string, ModelPace> Paces();

  uint64_t position();
  // Up to which message the listener has heard of everything.
  uint64_t told();
  // A copy of all of it.
  FleetState state();
  // Messages that were void, by why.
  std::map<FoldVerdict, int64_t> voids();

 private:
  // What was folded of a batch, once it is kept.
  struct Folded {
    std::map<FoldVerdict, int64_t> voids;
    std::map<Key, ViewChange> changes;
    std::vector<ViewBill> bills;
    ViewProgress progress;
  };
  absl::Status FoldInto(Database& db, const std::vector<StoredMessage>& messages,
                        Folded& folded) const;
  // `first` is done in the same transaction, before `messages` are read.
  absl::StatusOr<Folded> Fold(const std::vector<StoredMessage>& messages,
                              absl::FunctionRef<absl::Status(Database&)> first);
  void Tell(const Folded& folded);
  std::shared_ptr<ViewStore> OpenStore();
  std::shared_ptr<ViewStore> store();
  // The file cannot be written: the view goes on without it, and is read anew.
  void LeaveFile(const absl::Status& why);
  void TellWhatIsKept();

  const ViewOptions options_;
  ViewListener* const listener_;
  absl::Status opened_;  // as it is from the start
  Mutex mutex_;
  CondVar changed_;
  std::shared_ptr<ViewStore> store_ ABSL_GUARDED_BY(mutex_);
  uint64_t position_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t created_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ready_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t told_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t first_ ABSL_GUARDED_BY(mutex_) = 1;  // of the log, as last heard
  absl::Time forget_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  std::map<FoldVerdict, int64_t> voids_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
