// SPDX-License-Identifier: Apache-2.0
// The view: everything that one node knows of the fleet. It folds the log into tables that outlive
// the process; a start continues from their position. Thread-safe.
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

// A change of one video.
struct ViewChange {
  bool live = false;
  bool deleted = false;  // now
};

// Receives changes on the tail's thread, with no lock held. A view that was kept first reports its
// live videos, and the bills of the hour before the last end, on the thread that opens it.
class ViewListener {
 public:
  virtual ~ViewListener() = default;
  // Called after messages were folded, with the changed videos and the bills of ended ones.
  // Bindings of request ids may have changed too.
  virtual void OnFolded(const std::map<FleetState::Key, ViewChange>& changes,
                        const std::vector<ViewBill>& bills) = 0;
  // Discard everything: the view starts again from nothing.
  virtual void OnAnew() = 0;
  // The view has caught up with the log's end.
  virtual void OnCaughtUp() = 0;
};

struct ViewOptions {
  std::string file;                     // empty: it ends with the process
  std::string keys;                     // by which `reader` reads; other ones make it anew
  const VideoReader* reader = nullptr;  // outlives the view; null: decodes no records
  // The file also holds the log (EmbeddedLog): it is durable and never deleted or recreated.
  bool holds_log = false;
};

class FleetView final : public LogReader {
 public:
  using Key = FleetState::Key;
  // `listener` may be null; it outlives the tail.
  explicit FleetView(ViewOptions options = {}, ViewListener* listener = nullptr);
  ~FleetView() override;

  TailStart Start() override;
  void OnStream(int64_t created) override;
  bool OnMessages(const std::vector<StoredMessage>& messages) override;
  void OnRebuild() override;
  bool OnCaughtUp(const StreamFacts& facts) override;

  // For a view that holds its log, called by one thread: `append` stores messages and adds them to
  // its argument, and they are folded, in one transaction. An error leaves everything unchanged.
  using Messages = std::vector<StoredMessage>;
  absl::Status Append(absl::FunctionRef<absl::Status(Database&, Messages&)> append);
  // Why the file that should hold the log cannot be used; the view is then empty and in memory.
  const absl::Status& opened() const { return opened_; }

  // Waits until the message at `sequence` is folded; false if that takes longer than `patience`.
  bool WaitFor(uint64_t sequence, absl::Duration patience);
  // True once the view has read the whole log since its last restart.
  bool WaitUntilReady(absl::Duration patience);
  bool ready();

  // Lets videos that expire before `time` be reduced to traces.
  void ForgetExpired(absl::Time time);

  std::optional<FleetJob> Find(const std::string& tenant, const std::string& id);
  std::optional<ViewVideo> FindVideo(const Key& key);
  std::optional<FleetTrace> FindTrace(const std::string& tenant, const std::string& id);
  std::optional<FleetBinding> FindBinding(const std::string& tenant, const std::string& request_id);
  // The video with that id; the first one if several tenants have one.
  std::optional<Key> FindId(const std::string& id);
  std::vector<ViewVideo> Page(const ViewPage& page);
  // Ids of the newest videos that continue this one, at most `most`.
  std::vector<std::string> ContinuedBy(const Key& key, absl::Time now, int most);
  // Bytes of kept states by tenant.
  std::map<std::string, int64_t> StateBytes(absl::Time now);
  // Number of kept states, and number of states that expired before their videos.
  std::pair<int64_t, int64_t> StateCounts(absl::Time now);
  // Paces by model.
  std::map<std::string, ModelPace> Paces();

  uint64_t position();
  // Sequence up to which the listener was told everything.
  uint64_t told();
  // A copy of the whole state.
  FleetState state();
  // Number of void messages by reason.
  std::map<FoldVerdict, int64_t> voids();

 private:
  // Result of a folded batch.
  struct Folded {
    std::map<FoldVerdict, int64_t> voids;
    std::map<Key, ViewChange> changes;
    std::vector<ViewBill> bills;
    ViewProgress progress;
  };
  absl::Status FoldInto(Database& db, const std::vector<StoredMessage>& messages,
                        Folded& folded) const;
  // Runs `first` in the same transaction, before `messages`.
  absl::StatusOr<Folded> Fold(const std::vector<StoredMessage>& messages,
                              absl::FunctionRef<absl::Status(Database&)> first);
  void Tell(const Folded& folded);
  std::shared_ptr<ViewStore> OpenStore();
  std::shared_ptr<ViewStore> store();
  // Gives up a file that cannot be written; the view is rebuilt in memory.
  void LeaveFile(const absl::Status& why);
  void TellWhatIsKept();

  const ViewOptions options_;
  ViewListener* const listener_;
  absl::Status opened_;  // fixed from the start on
  Mutex mutex_;
  CondVar changed_;
  std::shared_ptr<ViewStore> store_ ABSL_GUARDED_BY(mutex_);
  uint64_t position_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t created_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ready_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t told_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t first_ ABSL_GUARDED_BY(mutex_) = 1;  // of the log, as last reported
  absl::Time forget_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  std::map<FoldVerdict, int64_t> voids_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
