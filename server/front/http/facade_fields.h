// SPDX-License-Identifier: Apache-2.0
// A request of the OpenAI videos API, as JSON or a form, as the request that it stands for. Clients
// of that shape send words of other servers: those that ask for nothing are passed over, the rest
// is refused by name.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/resolve.h"
#include "reel/v1/video_service.pb.h"
#include "server/front/jobs/job_service.h"

namespace reel::front {

struct FacadeAsk {
  v1::CreateVideoRequest request;
  std::string notice;  // what became of `seconds`; empty: it did not count
};

struct KnownModels {
  const std::vector<ServedModel>& served;  // give the rate and the legal counts of frames
  const std::map<std::string, std::string>& aliases;
};

// UNDECODABLE_REQUEST, NO_REMOTE_INPUT,
// INVALID_REQUEST with the facade's own names. `limits`: of the files in a request, and whether
// others can be sent ahead.
absl::StatusOr<FacadeAsk> ReadFacadeAsk(std::string_view content_type, std::string_view body,
                                        const KnownModels& models,
                                        const model::RequestLimits& limits = {});

// The facade's word for a field of our requests: "spec.frame_rate" is "fps".
std::string FacadeNameOf(std::string_view path);

}  // namespace reel::front
