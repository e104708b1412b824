// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/inputs.h"

#include <optional>
#include <utility>

#include "server/errors/error.h"
#include "server/front/jobs/video_id.h"

namespace reel::front {

void Inputs::Fetch(const Video& video, Done done) {
  if (video.spec.source) return FetchState(video, std::move(done));
  // Without a store no request with conditions was admitted.
  if (video.spec.conditions.empty() || !conditions_.enabled()) {
    return done(std::vector<Conditions::Blob>());
  }
  conditions_.Fetch(
      video.tenant, video.spec.conditions, [done = std::move(done)](Blobs blobs) mutable {
        if (absl::IsDataLoss(blobs.status())) {
          blobs = MakeError(Reason::kInternal, "The store has lost what the video came with");
        }
        done(std::move(blobs));
      });
}

void Inputs::FetchState(const Video& video, Done done) {
  const std::string id = IdOfName(video.spec.source->video);
  const std::optional<ViewVideo> source = sources_.Find(video.tenant, video.spec);
  if (!source) return done(StateGone(id, "it was removed meanwhile"));
  states_.Fetch(*source, video.spec.source->state_sha256,
                [id, done = std::move(done)](absl::StatusOr<States::Blob> blob) mutable {
                  if (blob.ok()) return done(std::vector{*std::move(blob)});
                  if (!absl::IsDataLoss(blob.status())) return done(blob.status());
                  done(StateGone(id, blob.status().message()));
                });
}

}  // namespace reel::front
