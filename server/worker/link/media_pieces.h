// SPDX-License-Identifier: Apache-2.0
// Cuts bytes of a file into pieces that fit into messages.
#pragma once

#include <cstddef>
#include <vector>

#include "server/protocol/worker_report.h"

namespace reel::worker {

inline constexpr size_t kMediaPieceBytes = 256 << 10;

// Only the last piece ends the fragment. A fragment that fits is moved, not copied.
std::vector<JobMedia> CutMedia(JobMedia media);

}  // namespace reel::worker
