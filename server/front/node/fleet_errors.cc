// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/fleet_errors.h"

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/front/jobs/video_id.h"

namespace reel::front {
namespace {

constexpr absl::Duration kRetry = absl::Seconds(2);

}  // namespace

absl::Status FleetUnavailable(std::string_view why) {
  return MakeError(Reason::kFleetUnavailable, why, {.retry_after = kRetry});
}

absl::Status ReadFailure(const absl::Status& status) {
  if (absl::IsNotFound(status) || absl::IsOutOfRange(status)) {
    return MakeError(Reason::kMediaCorrupt, "The fleet's store has lost the file of the video");
  }
  return FleetUnavailable("The fleet's store cannot be read");
}

absl::Status NotWritten(const absl::Status& status) {
  // A lone server's log returns the error of its disk.
  if (ReasonOf(status)) return status;
  if (absl::IsResourceExhausted(status)) return FleetUnavailable("The fleet's log is full");
  if (absl::IsInvalidArgument(status)) {
    return MakeInvalid(Reason::kInvalidRequest,
                       {{"spec", "is too large for the log that the servers of a fleet share"}});
  }
  if (status.ok()) {
    return FleetUnavailable("The fleet's log has not answered; the request may have been taken");
  }
  return FleetUnavailable("The fleet's log cannot be reached");
}

absl::Status NoSuchVideo(const std::string& id) {
  return MakeError(Reason::kVideoNotFound, absl::StrCat("No such video: videos/", id),
                   AboutVideo(id));
}

absl::Status NoSuchFile(const std::string& name, size_t condition) {
  const std::string field = absl::StrCat("spec.conditions[", condition, "].file");
  return MakeError(Reason::kFileNotFound,
                   absl::StrCat("No such file, or it has expired; send it again: ", name),
                   {.metadata = {{"field", field}, {"file", name}},
                    .violations = {{field, "names no file that is there; send it again"}},
                    .resource_type = "file",
                    .resource_name = name});
}

absl::Status VideoLocked(const std::string& id) {
  ErrorDetails details = AboutVideo(id);
  details.retry_after = kRetry;
  return MakeError(
      Reason::kFleetUnavailable,
      absl::StrCat("The video is encrypted with a key that this server does not have: videos/", id),
      details);
}

absl::Status RequestIdTaken(const std::string& request_id, const std::string& id) {
  ErrorDetails details = AboutVideo(id);
  details.metadata["request_id"] = request_id;
  return MakeError(
      Reason::kRequestIdConflict,
      absl::StrCat("The request id was used for a video with a different spec: videos/", id),
      details);
}

absl::Status RequestIdGone(const std::string& request_id) {
  return MakeError(Reason::kVideoExpired, "The video of this request id was removed",
                   {.metadata = {{"request_id", request_id}},
                    .resource_type = "video",
                    .resource_name = request_id});
}

}  // namespace reel::front
