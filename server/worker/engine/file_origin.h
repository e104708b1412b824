// SPDX-License-Identifier: Apache-2.0
// The texts by which the file of a job says how it was made, as far as its request asks for them.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/worker/engine/held_job.h"
#include "server/worker/media/origin_boxes.h"

namespace reel::kernels {
class KernelCatalog;
}  // namespace reel::kernels

namespace reel::worker {

// The kind of a device that is named as in "cuda:0 NVIDIA H200": what does not differ between two
// of a kind. "cpu" is one by itself.
std::string KindOf(const std::string& device);

absl::StatusOr<FileOrigin> OriginOfFile(const HeldJob& job, const kernels::KernelCatalog& catalog,
                                        const std::string& device);

}  // namespace reel::worker
