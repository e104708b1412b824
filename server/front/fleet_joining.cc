// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet_joining.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "kernels/base/status_macros.h"
#include "server/errors/error.h"
#include "server/front/fleet/log_messages.h"
#include "server/front/fleet/subjects.h"
#include "server/front/jobs/video_id.h"
#include "server/front/node/end_writer.h"
#include "server/front/node/fleet_errors.h"
#include "server/front/node/fleet_video.h"
#include "server/front/node/object_keys.h"
#include "server/front/node/sources.h"
#include "server/front/store/inbox.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr absl::Duration kJoinPatience = absl::Seconds(10);  // of one message

absl::Status NextTime(const absl::Status& why) {
  return absl::UnavailableError(absl::StrCat(
      "The fleet does not take what this server had queued when it was alone. It stays in the data "
      "folder, and the next start tries again: ",
      why.message()));
}

class FleetJoining {
 public:
  FleetJoining(const EarlierStores& stores, const NodeOptions& node, ObjectStore* objects,
               LogPort& log)
      : stores_(stores),
        node_(node),
        objects_(objects),
        log_(log),
        logged_(stores.serializer, node.seal) {}

  absl::Status Run() {
    REEL_ASSIGN_OR_RETURN(const std::vector<JobRow> live,
                          WaitForAnswer<absl::StatusOr<std::vector<JobRow>>>(
                              [&](auto done) { stores_.rows.Live(std::move(done)); }));
    int64_t brought = 0;
    for (const JobRow& row : live) {
      // The fleet's own are in its log.
      if (ReplicaOf(row.id) == node_.fleet) continue;
      REEL_RETURN_IF_ERROR(Bring(row));
      ++brought;
    }
    if (brought > 0) {
      Log(LogLevel::kWarning, "This server was alone: the fleet has what was queued and running",
          {{"videos", brought}});
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Bring(const JobRow& row) {
    absl::StatusOr<Video> video = stores_.serializer.Parse(row.video);
    if (!video.ok()) {
      Log(LogLevel::kError, "A stored job cannot be read and is dropped",
          {{"video", row.id}, {"error", video.status()}});
      return Drop(row);
    }
    if (video->spec.source) {
      const std::string draft = IdOfName(video->spec.source->video);
      return Fail(row, *std::move(video), StateGone(draft, "the fleet does not have its state"));
    }
    if (!video->spec.conditions.empty() && objects_ == nullptr) {
      return Fail(row, *std::move(video),
                  MakeInvalid(Reason::kInvalidSpec,
                              {{"spec.conditions", "a fleet without an object store takes none"}}));
    }
    REEL_RETURN_IF_ERROR(KeepPictures(row, *video));
    for (const LogMessage& message : MessagesOf(row, *video)) {
      const absl::StatusOr<bool> won = Write(message);
      if (absl::IsInvalidArgument(won.status())) {
        return Fail(row, *std::move(video), NotWritten(won.status()));
      }
      if (!won.ok()) return NextTime(won.status());
      // An earlier start has brought it: what became of it since is the fleet's.
      if (!*won) break;
    }
    return Drop(row);
  }

  std::vector<LogMessage> MessagesOf(const JobRow& row, const Video& video) const {
    const auto of = [&row](LogKind kind, uint32_t epoch) {
      return LogSubject{row.tenant, row.id, kind, epoch};
    };
    std::vector<LogMessage> messages = {
        {of(LogKind::kRequest, 0), WriteRequest({logged_.Write({row.tenant, row.id}, video), ""})}};
    const bool began = row.state != VideoState::kQueued || !row.restarts.empty();
    if (!began) return messages;
    // A gateway need not be allowed to claim.
    if (node_.gateway) return messages;
    // Whoever watches it has seen this attempt: the next one's numbers are above.
    const uint32_t last = EpochOf(row.attempt);
    AddClaims(row.tenant, row.id, last, {node_.node, node_.address}, messages);
    messages.push_back({of(LogKind::kFinish, last), WriteFinish({node_.node, FinishKind::kReleased},
                                                                TextOf(ReleaseReason::kRestart))});
    return messages;
  }

  // False: the subject was written before.
  absl::StatusOr<bool> Write(const LogMessage& message) {
    REEL_ASSIGN_OR_RETURN(std::string subject, MakeSubject(message.subject));
    const std::string id = absl::StrCat(node_.node, ".", node_.process, ".joining.", ++written_);
    REEL_ASSIGN_OR_RETURN(const WriteResult result,
                          log_.Write({std::move(subject), message.payload, id}, kJoinPatience));
    if (result.outcome == WriteResult::Outcome::kUnknown) {
      return absl::UnavailableError("the log has not answered");
    }
    return result.outcome == WriteResult::Outcome::kWon;
  }

  absl::Status KeepPictures(const JobRow& row, const Video& video) {
    const std::vector<model::Condition>& conditions = video.spec.conditions;
    if (conditions.empty()) return absl::OkStatus();
    using Blobs = absl::StatusOr<std::vector<MediaStore::Blob>>;
    const Blobs blobs = WaitForAnswer<Blobs>([&](auto done) {
      stores_.media.ReadConditions(row.id, static_cast<int>(conditions.size()), std::move(done));
    });
    // Without them it fails where it is to be rendered, and says so.
    if (!blobs.ok()) {
      Log(LogLevel::kError, "What a video came with cannot be read",
          {{"video", row.id}, {"error", blobs.status()}});
      return absl::OkStatus();
    }
    for (size_t i = 0; i < conditions.size(); ++i) {
      const std::string key =
          ConditionKeys(node_.seal, node_.fleet, row.tenant, conditions[i].sha256).front();
      const absl::Status put =
          objects_->PutBytes(key, node_.seal.Close(*blobs->at(i), key), conditions[i].content_type);
      if (!put.ok()) return NextTime(put);
    }
    return absl::OkStatus();
  }

  absl::Status Drop(const JobRow& row) {
    stores_.media.RemoveConditions(row.id, row.num_conditions);
    return WaitForAnswer<absl::Status>(
        [&](auto done) { stores_.rows.Remove(row.id, std::move(done)); });
  }

  absl::Status Fail(JobRow row, Video video, absl::Status why) {
    Log(LogLevel::kError, "The fleet cannot take a video that this server had when it was alone",
        {{"video", row.id}, {"error", why}});
    stores_.media.RemoveConditions(row.id, row.num_conditions);
    video.state = VideoState::kFailed;
    video.error = std::move(why);
    video.end_time = absl::Now();
    video.expire_time = video.end_time + kKeepFailed;
    row.state = VideoState::kFailed;
    row.num_conditions = 0;
    row.expire_time = video.expire_time;
    row.video = stores_.serializer.Serialize(video);
    return WaitForAnswer<absl::Status>([&](auto done) {
      stores_.rows.Update(std::move(row), Durability::kSynced, std::move(done));
    });
  }

  const EarlierStores& stores_;
  const NodeOptions& node_;
  ObjectStore* const objects_;
  LogPort& log_;
  const LoggedVideos logged_;
  int64_t written_ = 0;
};

}  // namespace

absl::Status BringIntoFleet(const EarlierStores& stores, const NodeOptions& node,
                            ObjectStore* objects, LogPort& log) {
  return FleetJoining(stores, node, objects, log).Run();
}

}  // namespace reel::front
