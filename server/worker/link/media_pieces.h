// SPDX-License-Identifier: Apache-2.0
// What the engine reports, as messages to the front.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reel/worker/v1/worker.pb.h"
#include "server/worker/engine/engine.h"

namespace reel::worker {

// Largest piece of a file in one message.
inline constexpr size_t kMediaPieceBytes = 256 << 10;

worker::v1::AttachRequest KernelsMessage(const std::string& worker,
                                         const std::vector<kernels::OpListing>& kernels,
                                         const std::vector<kernels::PluginListing>& plugins);
worker::v1::AttachRequest ModelFailedMessage(const std::string& model, const absl::Status& error);
worker::v1::AttachRequest ProgressMessage(const JobRef& job, model::Stage stage, int step,
                                          int num_steps);
worker::v1::AttachRequest PreviewMessage(const JobRef& job, PreviewImage preview);
// In pieces; only the last ends the fragment.
std::vector<worker::v1::AttachRequest> MediaMessages(const JobRef& job, int64_t offset,
                                                     std::string bytes, bool fragment_end);
worker::v1::AttachRequest SteppedMessage(const StepReport& report);
worker::v1::AttachRequest ParkedMessage(const JobRef& job, int64_t device_bytes);
worker::v1::AttachRequest FinishedMessage(const JobRef& job, const JobResult& result);
worker::v1::AttachRequest FailedMessage(const JobRef& job, const absl::Status& error, bool suspect);

}  // namespace reel::worker
