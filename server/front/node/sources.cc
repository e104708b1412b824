// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/sources.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/continued_spec.h"
#include "server/errors/error.h"
#include "server/front/jobs/video_id.h"
#include "server/front/node/fleet_errors.h"

namespace reel::front {
namespace {

absl::Status FillPromotion(model::GenerationSpec draft, model::GenerationSpec& spec) {
  if (!draft.stop_after_pass) {
    return MakeInvalid(Reason::kInvalidSpec,
                       {{"spec.source.video", "is no draft: all its passes are made"}});
  }
  draft.stop_after_pass.reset();
  draft.keep_state = spec.keep_state;
  draft.source = std::move(spec.source);
  spec = std::move(draft);
  return absl::OkStatus();
}

absl::Status FillHolding(const model::GenerationSpec& video, model::GenerationSpec& spec) {
  std::vector<model::FieldViolation> violations = model::FillContinued(video, spec);
  if (violations.empty()) return absl::OkStatus();
  for (model::FieldViolation& violation : violations) violation.field.insert(0, "spec.");
  return MakeInvalid(Reason::kInvalidSpec, violations);
}

}  // namespace

absl::Status StateGone(const std::string& id, absl::string_view why) {
  const std::string name = absl::StrCat("videos/", id);
  const std::string text = absl::StrCat("No request can go on from ", name, ": ", why);
  return MakeError(Reason::kStateGone, text,
                   {.metadata = {{"video", name}},
                    .precondition_type = "STATE",
                    .precondition_subject = name,
                    .precondition_description = text});
}

absl::StatusOr<Video> Sources::Read(const std::string& tenant, const std::string& id) const {
  const std::optional<ViewVideo> found = view_.FindVideo({tenant, id});
  const absl::Time now = clock_.Wall();
  if (!found || found->gone(now)) {
    if (!view_.ready()) return FleetUnavailable("This server's view of the fleet is behind");
    return NoSuchVideo(id);
  }
  absl::StatusOr<Video> video = logged_.Read(found->key, found->job.video);
  if (absl::IsFailedPrecondition(video.status())) return VideoLocked(id);
  if (!video.ok()) return NoSuchVideo(id);
  if (found->live()) return StateGone(id, "it is not finished");
  if (!video->kept) return StateGone(id, "it has kept no state");
  if (video->kept->expire_time <= now) return StateGone(id, "its state has expired");
  return video;
}

absl::Status Sources::Fill(NewJob& job) const {
  const model::Source& asked = *job.spec.source;
  const std::string id = IdOfName(asked.video);
  REEL_ASSIGN_OR_RETURN(Video video, Read(job.tenant, id));
  if (!asked.state_sha256.empty() && asked.state_sha256 != video.kept->sha256) {
    return StateGone(id, "its state has another SHA-256 than spec.source.state_sha256");
  }
  if (job.spec.holds_latents()) {
    REEL_RETURN_IF_ERROR(FillHolding(video.spec, job.spec));
  } else {
    REEL_RETURN_IF_ERROR(FillPromotion(std::move(video.spec), job.spec));
  }
  job.spec.source->state_sha256 = video.kept->sha256;
  job.state_bytes = video.kept->size_bytes;
  return absl::OkStatus();
}

std::optional<ViewVideo> Sources::Find(const std::string& tenant,
                                       const model::GenerationSpec& spec) const {
  std::optional<ViewVideo> found = view_.FindVideo({tenant, IdOfName(spec.source->video)});
  if (!found || found->job.deleted || found->facts.state_bytes == 0) return std::nullopt;
  return found;
}

}  // namespace reel::front
