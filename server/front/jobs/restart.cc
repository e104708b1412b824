// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/restart.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "kernels/base/status_macros.h"
#include "server/front/jobs/video_id.h"
#include "server/front/store/inbox.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

using Blobs = std::map<std::string, std::string>;

template <typename T, typename Call>
absl::StatusOr<T> Wait(Call call) {
  return WaitForAnswer<absl::StatusOr<T>>(std::move(call));
}

}  // namespace

absl::Status RestartOfFront::Recover() {
  REEL_ASSIGN_OR_RETURN(const auto live, Wait<std::vector<JobRow>>([&](auto done) {
                          ports_.store.Live(std::move(done));
                        }));
  REEL_RETURN_IF_ERROR(TakeReplica());
  REEL_RETURN_IF_ERROR(KeepFiles());
  REEL_RETURN_IF_ERROR(LearnAgain());
  for (const JobRow& row : live) Forget(row);
  return absl::OkStatus();
}

absl::Status RestartOfFront::TakeReplica() {
  REEL_ASSIGN_OR_RETURN(Replica::Kept kept, Wait<Blobs>([&](auto done) {
                          ports_.store.Blobs(Replica::kKind, std::move(done));
                        }));
  Replica& replica = state_.replica;
  if (replica.TakeUp(std::move(kept))) {
    ports_.store.PutBlob(Replica::kKind, replica.name(), replica.what());
    Log(LogLevel::kInfo, "names of new videos begin with a new replica",
        {{"replica", replica.name()}});
  }
  return absl::OkStatus();
}

absl::Status RestartOfFront::KeepFiles() {
  REEL_ASSIGN_OR_RETURN(const auto files, Wait<std::vector<StoredFile>>([&](auto done) {
                          ports_.store.Files(std::move(done));
                        }));
  std::vector<MediaStore::Kept> kept;
  for (const StoredFile& file : files) {
    // What was growing begins anew.
    kept.push_back({file.id, file.finished ? file.attempt : 0, file.num_conditions});
    if (file.finished) state_.ledger.AddStored(file.tenant, file.media_bytes);
  }
  return ports_.media.KeepOnly(kept, ports_.clock.Wall()).status();
}

absl::Status RestartOfFront::LearnAgain() {
  JobStore& store = ports_.store;
  REEL_ASSIGN_OR_RETURN(const Blobs cards,
                        Wait<Blobs>([&](auto done) { store.Blobs("card", std::move(done)); }));
  REEL_ASSIGN_OR_RETURN(const Blobs costs,
                        Wait<Blobs>([&](auto done) { store.Blobs("costs", std::move(done)); }));
  for (const auto& [name, bytes] : cards) {
    auto card = ports_.serializer.ParseCard(bytes);
    if (card.ok()) state_.roster.SetCard(*card);
  }
  for (const auto& [name, bytes] : costs) state_.costs.Parse(bytes);
  REEL_ASSIGN_OR_RETURN(const Blobs uses,
                        Wait<Blobs>([&](auto done) { store.Blobs("use", std::move(done)); }));
  for (const auto& [tenant, use] : uses) {
    state_.ledger.TakeUp(tenant, use, ports_.clock.Monotonic(), ports_.clock.Wall());
  }
  return absl::OkStatus();
}

void RestartOfFront::Forget(const JobRow& row) {
  const bool in_log = state_.options.alone || ReplicaOf(row.id) == state_.replica.name();
  if (!in_log) return;  // of when this server was alone: its node brings it into the log
  const bool began = row.state != VideoState::kQueued || !row.restarts.empty();
  if (!began) never_begun_.insert(row.id);
  ports_.media.RemoveConditions(row.id, row.num_conditions);
  ports_.store.Remove(row.id, nullptr);
}

void Drain::Start(absl::Duration propagation, absl::Duration limit,
                  absl::AnyInvocable<void()> done) {
  waiting_.push_back(std::move(done));
  if (state_.drain.begun.exchange(true)) {
    CloseAdmission();
    return Cut();
  }
  state_.timers.Set({TimerKind::kCutDrain, {}}, clock_.Monotonic() + propagation + limit);
  if (propagation > absl::ZeroDuration()) {
    state_.timers.Set({TimerKind::kCloseAdmission, {}}, clock_.Monotonic() + propagation);
  } else {
    CloseAdmission();
  }
}

void Drain::CloseAdmission() {
  state_.drain.closed = true;
  state_.timers.Clear({TimerKind::kCloseAdmission, {}});
  state_.jobs.MarkChanged();
}

void Drain::Cut() {
  state_.drain.limit_met = true;
  state_.timers.Clear({TimerKind::kCutDrain, {}});
  state_.jobs.MarkChanged();
}

bool Drain::reached() const {
  return state_.drain.closed && !waiting_.empty() &&
         std::all_of(state_.jobs.begin(), state_.jobs.end(),
                     [&](const auto& entry) { return state_.drain.Leaves(entry.second); });
}

void Drain::Answer() {
  state_.timers.Clear({TimerKind::kCutDrain, {}});
  for (auto& done : std::exchange(waiting_, {})) done();
}

}  // namespace reel::front
