// SPDX-License-Identifier: Apache-2.0
// What an earlier process left: queued jobs go on waiting, running ones start again, those whose
// deadline has passed fail, and files that belong to nobody go.
#include <algorithm>
#include <utility>

#include "kernels/base/mutex.h"
#include "kernels/base/status_macros.h"
#include "server/errors/error.h"
#include "server/front/jobs/scheduler.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

// Blocks for the answer: nothing else runs yet.
template <typename T, typename Call>
absl::StatusOr<T> Wait(Call call) {
  Mutex mutex;
  CondVar answered;
  std::optional<absl::StatusOr<T>> answer;
  call([&](absl::StatusOr<T> value) {
    MutexLock lock(mutex);
    answer = std::move(value);
    answered.NotifyAll();
  });
  MutexLock lock(mutex);
  while (!answer) answered.Wait(mutex);
  return *std::move(answer);
}

}  // namespace

absl::Status Scheduler::Recover() {
  using Blobs = std::map<std::string, std::string>;
  JobStore& store = parts_.store;
  REEL_ASSIGN_OR_RETURN(const auto files, Wait<std::vector<StoredFile>>(
                                              [&](auto done) { store.Files(std::move(done)); }));
  REEL_ASSIGN_OR_RETURN(auto live,
                        Wait<std::vector<JobRow>>([&](auto done) { store.Live(std::move(done)); }));
  REEL_ASSIGN_OR_RETURN(const Blobs cards,
                        Wait<Blobs>([&](auto done) { store.Blobs("card", std::move(done)); }));
  REEL_ASSIGN_OR_RETURN(const Blobs costs,
                        Wait<Blobs>([&](auto done) { store.Blobs("costs", std::move(done)); }));
  std::vector<MediaStore::Kept> kept;
  for (const StoredFile& file : files) {
    // What was growing begins anew.
    kept.push_back({file.id, file.finished ? file.attempt : 0, file.num_conditions});
    if (file.finished) ledger_.AddStored(file.tenant, file.media_bytes);
  }
  REEL_RETURN_IF_ERROR(parts_.media.KeepOnly(kept));
  for (const auto& [name, bytes] : cards) {
    auto card = parts_.serializer.ParseCard(bytes);
    if (card.ok()) fleet_.SetCard(*card);
  }
  for (const auto& [name, bytes] : costs) costs_.Parse(bytes);
  for (JobRow& row : live) TakeUp(std::move(row));
  timers_.Set("tick", now());
  return absl::OkStatus();
}

void Scheduler::TakeUp(JobRow row) {
  auto parsed = parts_.serializer.Parse(row.video);
  if (!parsed.ok()) {
    // Nothing of it is known; a row that is live for good would help nobody.
    Log(LogLevel::kError, "A stored job cannot be read and is dropped",
        {{"video", row.id}, {"error", parsed.status()}});
    return parts_.store.Remove(row.id, absl::InfinitePast(), nullptr);
  }
  Video video = *std::move(parsed);
  video.tenant = row.tenant;
  ActiveJob job;
  job.row = std::move(row);
  job.row.video.clear();
  job.need.model = video.spec.model;
  job.need.worker = video.spec.worker;
  TakeUpLive(std::move(job), std::move(video));
}

void Scheduler::TakeUpLive(ActiveJob job, Video video) {
  job.log = std::make_shared<LoggedJob>(video, job.row, parts_.media);
  job.row.reserved_sequence += kSequenceBlock;
  job.log->Reserve(job.row.reserved_sequence);
  job.phase = Phase::kQueued;
  const absl::Duration asked = video.deadline - video.create_time;
  const absl::Duration left = std::clamp(video.deadline - wall(), absl::ZeroDuration(),
                                         std::max(asked, absl::ZeroDuration()));
  job.accepted = job.last_event = job.stage_since = now();
  job.deadline = now() + left;
  admission_.ExpandProfile(video.spec.kernels, job.need);
  if (const model::ModelCard* card = fleet_.FindCard(job.need.model)) {
    job.need.shape = ShapeOf(video.spec, *card, admission_.PlanName(job.need));
    job.cost = costs_.Predict(job.need.shape);
  }
  job.waits_for_owner = job.row.bound;
  const std::string id = job.id();
  const bool ran = job.row.state == RowState::kRunning;
  const bool rejoinable = !job.row.request_id.empty();
  if (rejoinable) requests_[{job.row.tenant, job.row.request_id}].job = id;
  ActiveJob& taken = jobs_.emplace(id, std::move(job)).first->second;
  if (left <= absl::ZeroDuration()) return EndByDeadline(taken);
  if (taken.row.bound && !rejoinable) {
    return End(taken, VideoState::kCancelled,
               EndError(taken, Reason::kOwnerLeft, "The server restarted, and the call is gone"));
  }
  timers_.Set("deadline " + id, taken.deadline);
  if (taken.row.bound) timers_.Set("rejoin " + id, now() + options_.rejoin);
  if (ran) {
    Restart(taken, "FRONT_RESTARTED", false);
  } else {
    // The numbers of this process are above those of the last.
    Save(taken, Durability::kLogged, nullptr);
  }
}

}  // namespace reel::front
