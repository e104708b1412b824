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

JobRow StoredRow(const ActiveJob& job) {
  JobRow row = job.row;
  row.id = job.id;
  row.tenant = job.tenant;
  row.attempt = job.attempt;
  return row;
}

}  // namespace

JobRecords::JobRecords(JobStore& store, const MediaStore& media, const VideoSerializer& serializer,
                       Removals& removals, const OwnThread& thread)
    : store_(store), media_(media), serializer_(serializer), removals_(removals), thread_(thread) {}

void JobRecords::Create(const ActiveJob& job, Done done) {
  JobRow row = StoredRow(job);
  row.video = serializer_.Serialize(job.log->Snapshot());
  store_.Create(std::move(row), thread_.Here<absl::Status>(std::move(done)));
}

void JobRecords::Record(ActiveJob& job, const RowEvent& event, Done done) {
  Record(job, event, job.log->Snapshot(), std::move(done));
}

void JobRecords::Record(ActiveJob& job, const RowEvent& event, const Video& video, Done done) {
  JobRow row = StoredRow(job);
  Apply(event, row);
  job.row = row;
  job.attempt = row.attempt;
  row.video = serializer_.Serialize(video);
  Done answer;
  if (done) answer = thread_.Here<absl::Status>(std::move(done));
  // Nothing else has where the blocks of a file are.
  const bool is_success = std::holds_alternative<RowSucceeded>(event);
  store_.Update(std::move(row), is_success ? Durability::kSynced : Durability::kLogged,
                std::move(answer));
}

void JobRecords::Find(const std::string& id, Reply<std::optional<JobRow>> reply) {
  store_.Find(id, thread_.Here<absl::StatusOr<std::optional<JobRow>>>(std::move(reply)));
}

void JobRecords::Page(PageQuery query, Reply<std::vector<JobRow>> reply) {
  store_.Page(std::move(query),
              thread_.Here<absl::StatusOr<std::vector<JobRow>>>(std::move(reply)));
}

void JobRecords::Expired(absl::Time now, int limit, Reply<std::vector<JobRow>> reply) {
  store_.Expired(now, limit, thread_.Here<absl::StatusOr<std::vector<JobRow>>>(std::move(reply)));
}

void JobRecords::Remove(const std::string& id, Done done) {
  store_.Remove(id, thread_.Here<absl::Status>(std::move(done)));
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

}  // namespace reel::front
