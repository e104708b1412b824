// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/job_records.h"

#include <utility>
#include <variant>

#include "kernels/base/status_macros.h"
#include "server/errors/error.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

struct Change {
  JobRow& row;

  void operator()(const RowStarted&) const { row.state = VideoState::kRunning; }
  void operator()(const RowRestarted& event) const {
    row.attempt = event.restart.attempt;
    row.state = VideoState::kQueued;
    row.restarts.push_back(event.restart);
  }
  void operator()(const RowSucceeded& event) const {
    row.state = VideoState::kSucceeded;
    row.expire_time = event.expire_time;
    row.num_conditions = 0;
    row.media_bytes = event.media_bytes;
    row.fragment_ends = event.fragment_ends;
    row.block_sums = event.block_sums;
    row.last_sequence = event.sequence;
  }
  void operator()(const RowFailed& event) const {
    row.state = event.state;
    row.expire_time = event.expire_time;
    row.num_conditions = 0;
    row.media_bytes = 0;
    row.fragment_ends.clear();
    row.block_sums.clear();
    row.last_sequence = 0;
  }
};

}  // namespace

void Apply(const RowEvent& event, JobRow& row) { std::visit(Change{row}, event); }

namespace {

absl::Status Damaged(const std::string& id, const absl::Status& error) {
  Log(LogLevel::kError,
      "The stored record of a video is damaged; delete the video, or put a copy of reel.db back",
      {{"video", "videos/" + id}, {"error", error}});
  return MakeError(Reason::kMediaCorrupt, "The stored record of the video is damaged",
                   AboutVideo(id));
}

JobRow StoredRow(const ActiveJob& job) {
  JobRow row = job.row;
  row.id = job.id;
  row.tenant = job.tenant;
  row.attempt = job.attempt;
  return row;
}

}  // namespace

void JobRecords::Create(const ActiveJob& job, Done done) {
  JobRow row = StoredRow(job);
  row.video = ports_.serializer.Serialize(job.log->Snapshot());
  ports_.store.Create(std::move(row), state_.thread.Here<absl::Status>(std::move(done)));
}

void JobRecords::Record(ActiveJob& job, const RowEvent& event, Done done) {
  Record(job, event, job.log->Snapshot(), std::move(done));
}

void JobRecords::Record(ActiveJob& job, const RowEvent& event, const Video& video, Done done) {
  JobRow row = StoredRow(job);
  Apply(event, row);
  job.row = row;
  job.attempt = row.attempt;
  row.video = ports_.serializer.Serialize(video);
  Done answer;
  if (done) answer = state_.thread.Here<absl::Status>(std::move(done));
  // Nothing else has where the blocks of a file are.
  const bool is_success = std::holds_alternative<RowSucceeded>(event);
  ports_.store.Update(std::move(row), is_success ? Durability::kSynced : Durability::kLogged,
                      std::move(answer));
}

void JobRecords::Find(const std::string& id, Reply<std::optional<JobRow>> reply) {
  ports_.store.Find(id,
                    state_.thread.Here<absl::StatusOr<std::optional<JobRow>>>(std::move(reply)));
}

void JobRecords::Page(PageQuery query, Reply<std::vector<JobRow>> reply) {
  ports_.store.Page(std::move(query),
                    state_.thread.Here<absl::StatusOr<std::vector<JobRow>>>(std::move(reply)));
}

void JobRecords::Expired(absl::Time now, int limit, Reply<std::vector<JobRow>> reply) {
  ports_.store.Expired(now, limit,
                       state_.thread.Here<absl::StatusOr<std::vector<JobRow>>>(std::move(reply)));
}

void JobRecords::Remove(const std::string& id, Done done) {
  ports_.store.Remove(id, state_.thread.Here<absl::Status>(std::move(done)));
}

void JobRecords::KeepCard(const model::ModelCard& card) {
  ports_.store.PutBlob("card", card.name, ports_.serializer.SerializeCard(card));
}

void JobRecords::Charge(const std::string& tenant, absl::Duration device_time) {
  if (device_time <= absl::ZeroDuration()) return;
  const absl::Duration now = ports_.clock.Monotonic();
  state_.ledger.AddDeviceSeconds(tenant, absl::ToDoubleSeconds(device_time), now);
  ports_.store.PutBlob("use", tenant, state_.ledger.Keep(tenant, now, ports_.clock.Wall()));
}

absl::StatusOr<Video> JobRecords::Read(const JobRow& row) const {
  absl::StatusOr<Video> video = ports_.serializer.Parse(row.video);
  if (!video.ok()) return Damaged(row.id, video.status());
  video->tenant = row.tenant;
  return video;
}

absl::StatusOr<std::shared_ptr<LoggedJob>> JobRecords::ReadBack(const JobRow& row) {
  REEL_RETURN_IF_ERROR(state_.removals.CheckStays(row.id));
  REEL_ASSIGN_OR_RETURN(Video video, Read(row));
  auto job = LoggedJob::FromStore(std::move(video), row, ports_.media);
  state_.removals.Watch(row.id, job);
  return job;
}

}  // namespace reel::front
