// SPDX-License-Identifier: Apache-2.0
// A node of the fleet's simulation: the log, the fold, the beats and the choice of videos are the
// product's, over a real broker; a device is a pause.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/fleet/fleet_view.h"
#include "server/front/fleet/nats_port.h"
#include "server/front/fleet/node_table.h"
#include "server/front/node/video_index.h"
#include "server/front/node/view_barrier.h"

namespace reel::bench {

// What one node, or all of them together, saw.
struct NodeFigures {
  int64_t tried = 0, won = 0, lost = 0, unknown = 0;  // claims that were written
  int64_t ended = 0, voids = 0, holes = 0, beats = 0, looks = 0;
  std::vector<float> look_ms;   // to decide what to claim
  std::vector<float> claim_ms;  // from deciding to the own fold's word
  std::vector<float> lag_ms;    // of messages: from their writing to their fold here

  void Add(const NodeFigures& other);
};

// When a message was written, from its id; every writer of the simulation puts it there.
std::string IdNow(const std::string& writer, int64_t number);
std::optional<absl::Time> TimeOfId(const std::string& message_id);

// Passes messages on to the view, and looks at how old they are.
class TimedReader final : public front::LogReader {
 public:
  explicit TimedReader(front::LogReader& next) : next_(next) {}
  bool OnMessages(const std::vector<front::StoredMessage>& messages) override;
  void OnRebuild() override { next_.OnRebuild(); }
  bool OnCaughtUp(const front::StreamFacts& facts) override { return next_.OnCaughtUp(facts); }
  // From now on; what is read to catch up is old.
  void Measure() { measuring_ = true; }
  std::vector<float> Take();

 private:
  front::LogReader& next_;
  std::atomic<bool> measuring_ = false;
  int64_t seen_ = 0;  // of the tail's thread
  Mutex mutex_;
  std::vector<float> lag_ms_ ABSL_GUARDED_BY(mutex_);
};

class SimulatedNode {
 public:
  struct Settings {
    std::string name;
    front::FleetLogOptions log;
    absl::Duration video = absl::Milliseconds(300);  // of a device
  };
  SimulatedNode(Settings settings, const front::LoggedVideos& logged);
  ~SimulatedNode();

  // Errors as those of the log.
  absl::Status Start();
  void Measure();
  NodeFigures Stop();

 private:
  using Key = front::FleetState::Key;
  struct Held {
    Key key;
    uint32_t epoch = 0;
  };

  void Run();
  void WaitForNews();
  void Absorb();
  void Beat(absl::Time now);
  void Work(absl::Time now);
  // As the product's claimer: for what runs and what is next.
  void Look(absl::Time now);
  std::vector<Key> Candidates() const;
  bool IsOurs(const Key& key, absl::Time now);
  void Claim(const Key& key);
  void Finish();
  int idle() const { return running_ || next_ ? 0 : 1; }

  const Settings settings_;
  Mutex mutex_;
  CondVar changed_;
  bool news_ ABSL_GUARDED_BY(mutex_) = false;
  front::ViewChanges changes_;  // tells of news
  front::FleetView view_;
  TimedReader reader_;
  front::VideoIndex index_;
  front::NodeTable nodes_;
  std::map<std::string, int> room_;  // of others that are alive
  front::Rivals rivals_;
  std::unique_ptr<front::NatsPort> port_;
  std::optional<Held> running_, next_;
  absl::Time until_ = absl::InfiniteFuture(), beaten_ = absl::InfinitePast();
  absl::Time room_since_ = absl::InfinitePast();  // for what is next
  int told_room_ = -1;
  int64_t written_ = 0;
  struct Noticed {
    absl::Time at;
    front::Rivals::Better better;
  };
  std::map<Key, Noticed> noticed_;
  std::set<Key> claiming_;  // written, and not heard of yet
  NodeFigures figures_;
  std::atomic<bool> measuring_ = false, stopping_ = false;
  std::thread thread_;
};

}  // namespace reel::bench
