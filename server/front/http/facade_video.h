// SPDX-License-Identifier: Apache-2.0
// Videos and models as the OpenAI videos API shows them.
#pragma once

#include <string>
#include <vector>

#include "server/front/jobs/job_service.h"

namespace reel::front {

// The object `video`. `notice`: one more, where it is not empty.
std::string FacadeVideoJson(const Video& video, const std::string& notice = "");
// `videos` in their order.
std::string FacadeListJson(const std::vector<Video>& videos, bool more);
std::string FacadeDeletedJson(const std::string& id);
std::string FacadeModelJson(const ServedModel& model, int64_t created);
std::string FacadeModelsJson(const std::vector<ServedModel>& models, int64_t created);

// The model that is served unless one is named.
std::string FacadeModelInfoJson(const std::string& model);
std::string FacadeHealthJson(bool ready);

// Server-Timing of a finished video, in ms.
std::string ServerTimingOf(const model::RunStats& stats);
// Seconds, without the time in the queue.
double InferenceSecondsOf(const model::RunStats& stats);

}  // namespace reel::front
