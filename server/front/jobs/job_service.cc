// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/job_service.h"

#include "server/front/jobs/video_id.h"

namespace reel::front {

Video VideoAt(Video first, int place) {
  if (!first.id.empty()) first.id = OtherVideoId(first.id, place);
  first.create_time += absl::Nanoseconds(place);
  if (first.spec.seed) first.spec.seed = SeedAt(*first.spec.seed, place);
  return first;
}

}  // namespace reel::front
