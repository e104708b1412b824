// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/restart.h"

#include <map>
#include <utility>
#include <vector>

#include "kernels/base/status_macros.h"
#include "server/front/jobs/video_id.h"
#include "server/front/store/answer.h"
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
  REEL_ASSIGN_OR_RETURN(
      auto live, Wait<std::vector<JobRow>>([&](auto done) { parts_.store.Live(std::move(done)); }));
  REEL_RETURN_IF_ERROR(TakeReplica());
  REEL_RETURN_IF_ERROR(KeepFiles());
  REEL_RETURN_IF_ERROR(LearnAgain());
  for (JobRow& row : live) TakeUp(std::move(row));
  return absl::OkStatus();
}

absl::Status RestartOfFront::TakeReplica() {
  REEL_ASSIGN_OR_RETURN(Replica::Kept kept, Wait<Blobs>([&](auto done) {
                          parts_.store.Blobs(Replica::kKind, std::move(done));
                        }));
  Replica& replica = parts_.replica;
  if (replica.TakeUp(std::move(kept))) {
    parts_.store.PutBlob(Replica::kKind, replica.name(), replica.what());
    Log(LogLevel::kInfo, "names of new videos begin with a new replica",
        {{"replica", replica.name()}});
  }
  return absl::OkStatus();
}

absl::Status RestartOfFront::KeepFiles() {
  REEL_ASSIGN_OR_RETURN(const auto files, Wait<std::vector<StoredFile>>([&](auto done) {
                          parts_.store.Files(std::move(done));
                        }));
  std::vector<MediaStore::Kept> kept;
  for (const StoredFile& file : files) {
    // What was growing begins anew.
    kept.push_back({file.id, file.finished ? file.attempt : 0, file.num_conditions});
    if (file.finished) parts_.ledger.AddStored(file.tenant, file.media_bytes);
  }
  REEL_ASSIGN_OR_RETURN(condition_bytes_, parts_.media.KeepOnly(kept, parts_.clock.Wall()));
  return absl::OkStatus();
}

absl::Status RestartOfFront::LearnAgain() {
  JobStore& store = parts_.store;
  REEL_ASSIGN_OR_RETURN(const Blobs cards,
                        Wait<Blobs>([&](auto done) { store.Blobs("card", std::move(done)); }));
  REEL_ASSIGN_OR_RETURN(const Blobs costs,
                        Wait<Blobs>([&](auto done) { store.Blobs("costs", std::move(done)); }));
  for (const auto& [name, bytes] : cards) {
    auto card = parts_.serializer.ParseCard(bytes);
    if (card.ok()) parts_.fleet.SetCard(*card);
  }
  for (const auto& [name, bytes] : costs) parts_.costs.Parse(bytes);
  REEL_ASSIGN_OR_RETURN(const Blobs uses,
                        Wait<Blobs>([&](auto done) { store.Blobs("use", std::move(done)); }));
  for (const auto& [tenant, use] : uses) {
    parts_.ledger.TakeUp(tenant, use, parts_.clock.Monotonic(), parts_.clock.Wall());
  }
  return absl::OkStatus();
}

void RestartOfFront::TakeUp(JobRow row) {
  const bool in_log = parts_.options.alone || ReplicaOf(row.id) == parts_.replica.name();
  if (parts_.options.in_fleet) {
    if (!in_log) return;  // the node brings it into the log
    // Whose it is now the fleet's log says, and nothing here does.
    const bool began = row.state != RowState::kQueued || !row.restarts.empty();
    if (!began) never_begun_.insert(row.id);
    parts_.media.RemoveConditions(row.id, row.num_conditions);
    return parts_.store.Remove(row.id, absl::InfinitePast(), nullptr);
  }
  const auto video = parts_.records.Read(row);
  if (!video.ok()) {
    // Nothing of it is known; a row that is live for good would help nobody.
    Log(LogLevel::kError, "A stored job cannot be read and is dropped",
        {{"video", row.id}, {"error", video.status()}});
    return parts_.store.Remove(row.id, absl::InfinitePast(), nullptr);
  }
  const bool ran = row.state == RowState::kRunning;
  const auto sent = condition_bytes_.find(row.id);
  const int64_t condition_bytes = sent == condition_bytes_.end() ? 0 : sent->second;
  ActiveJob& job = parts_.jobs.Add(parts_.revival.Revive(std::move(row), *video, condition_bytes));
  parts_.requests.Claim({job.row.tenant, job.row.request_id}, job.id());
  if (job.deadline <= parts_.clock.Monotonic()) {
    return parts_.endings.FailByDeadline(job, JobEvent::kEnded);
  }
  if (job.row.bound && job.row.request_id.empty()) {
    return parts_.endings.Cancel(
        job, Reason::kOwnerLeft,
        "The server restarted, which ended the only call that the video was for");
  }
  Resume(job, ran);
}

void RestartOfFront::Resume(ActiveJob& job, bool ran) {
  parts_.timers.Set({TimerKind::kDeadline, job.id()}, job.deadline);
  if (job.row.bound) {
    parts_.timers.Set({TimerKind::kRejoin, job.id()},
                      parts_.clock.Monotonic() + parts_.options.rejoin);
  }
  if (ran) return parts_.recovery.Restart(job, "FRONT_RESTARTED", false);
  // The numbers of this process are above those of the last.
  parts_.records.Record(job, RowReserved{}, nullptr);
  job.log->Reserve(job.row.reserved_sequence);
}

}  // namespace reel::front
