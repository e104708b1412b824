// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/job_records.h"

#include <utility>
#include <variant>

#include "kernels/base/status_macros.h"
#include "server/errors/error.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

absl::Status Damaged(const std::string& id, const absl::Status& error) {
  const std::string name = "videos/" + id;
  Log(LogLevel::kError,
      "The stored record of a video is damaged; delete the video, or put a copy of reel.db back",
      {{"video", name}, {"error", error}});
  ErrorDetails details;
  details.metadata = {{"video", name}};
  details.resource_type = "video";
  details.resource_name = name;
  return MakeError(Reason::kMediaCorrupt, "The stored record of the video is damaged", details);
}

}  // namespace

JobRecords::JobRecords(JobStore& store, const MediaStore& media, const VideoSerializer& serializer,
                       Removals& removals, const OwnThread& thread)
    : store_(store), media_(media), serializer_(serializer), removals_(removals), thread_(thread) {}

void JobRecords::Create(const ActiveJob& job, Done done) {
  JobRow row = job.row;
  row.video = serializer_.Serialize(job.log->Snapshot());
  const Durability durability = job.epoch > 0 ? Durability::kLogged : Durability::kSynced;
  store_.Create(std::move(row), durability, thread_.Here<absl::Status>(std::move(done)));
}

void JobRecords::Record(ActiveJob& job, const RowEvent& event, Done done) {
  Record(job, event, job.log->Snapshot(), std::move(done));
}

void JobRecords::Record(ActiveJob& job, const RowEvent& event, const Video& video, Done done) {
  Apply(event, job.row);
  JobRow row = job.row;
  row.video = serializer_.Serialize(video);
  Done answer;
  if (done) answer = thread_.Here<absl::Status>(std::move(done));
  // Of an adopted job the log knows all but where its file's blocks are.
  const bool in_log = job.epoch > 0 && !std::holds_alternative<RowSucceeded>(event);
  store_.Update(std::move(row), in_log ? Durability::kLogged : DurabilityOf(event),
                std::move(answer));
}

void JobRecords::Find(const std::string& id, Reply<std::optional<JobRow>> reply) {
  store_.Find(id, thread_.Here<absl::StatusOr<std::optional<JobRow>>>(
                      [this, reply = std::move(reply)](auto row) mutable {
                        if (row.ok() && row->has_value()) Refresh(**row);
                        reply(std::move(row));
                      }));
}

void JobRecords::FindRequest(const std::string& tenant, const std::string& request_id,
                             Reply<RequestRecord> reply) {
  store_.FindRequest(tenant, request_id,
                     thread_.Here<absl::StatusOr<RequestRecord>>(std::move(reply)));
}

void JobRecords::Page(PageQuery query, Reply<std::vector<JobRow>> reply) {
  store_.Page(std::move(query), thread_.Here<absl::StatusOr<std::vector<JobRow>>>(
                                    [this, reply = std::move(reply)](auto rows) mutable {
                                      if (!rows.ok()) return reply(std::move(rows));
                                      for (JobRow& row : *rows) Refresh(row);
                                      reply(std::move(rows));
                                    }));
}

void JobRecords::Expired(absl::Time now, int limit, Reply<std::vector<JobRow>> reply) {
  store_.Expired(now, limit, thread_.Here<absl::StatusOr<std::vector<JobRow>>>(std::move(reply)));
}

void JobRecords::Remove(const std::string& id, absl::Time tombstone_until, Done done) {
  store_.Remove(
      id, tombstone_until,
      thread_.Here<absl::Status>([this, id, done = std::move(done)](absl::Status removed) mutable {
        if (removed.ok()) kept_ends_.erase(id);
        done(std::move(removed));
      }));
}

void JobRecords::KeepCard(const model::ModelCard& card) {
  store_.PutBlob("card", card.name, serializer_.SerializeCard(card));
}

void JobRecords::KeepUse(const std::string& tenant, const std::string& use) {
  store_.PutBlob("use", tenant, use);
}

absl::StatusOr<Video> JobRecords::Read(const JobRow& row) const {
  absl::StatusOr<Video> video = serializer_.Parse(row.video);
  if (!video.ok()) return Damaged(row.id, video.status());
  video->tenant = row.tenant;
  return video;
}

absl::StatusOr<std::shared_ptr<LoggedJob>> JobRecords::ReadBack(const JobRow& row) {
  REEL_RETURN_IF_ERROR(removals_.CheckStays(row.id));
  REEL_ASSIGN_OR_RETURN(Video video, Read(row));
  auto job = LoggedJob::FromStore(std::move(video), row, media_);
  removals_.Watch(row.id, job);
  return job;
}

void JobRecords::KeepEnd(const ActiveJob& job, const RowFailed& event, const Video& video) {
  JobRow row = job.row;
  Apply(event, row);
  row.video = serializer_.Serialize(video);
  kept_ends_[row.id] = std::move(row);
}

void JobRecords::SaveKeptEnds() {
  for (const auto& [id, row] : kept_ends_) {
    store_.Update(row, Durability::kSynced,
                  thread_.Here<absl::Status>([this, id = id](const absl::Status& saved) {
                    if (saved.ok()) kept_ends_.erase(id);
                  }));
  }
}

void JobRecords::Refresh(JobRow& row) const {
  const auto kept = kept_ends_.find(row.id);
  if (kept != kept_ends_.end()) row = kept->second;
}

}  // namespace reel::front
