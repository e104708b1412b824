// SPDX-License-Identifier: Apache-2.0
// An assignment as the messages that carry it.
#pragma once

#include <vector>

#include "reel/worker/v1/worker.pb.h"
#include "server/protocol/assignment.h"

namespace reel::front {

// Largest piece of the bytes of a condition or state.
inline constexpr size_t kConditionPieceBytes = 256 << 10;

// The pixels of its conditions or the state that it begins from, in pieces, then Assign without
// them.
std::vector<worker::v1::AttachResponse> MakeAssignmentMessages(const Assignment& assignment);

}  // namespace reel::front
