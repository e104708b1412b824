// SPDX-License-Identifier: Apache-2.0
// The two streams of the transformer.
#pragma once

#include <string>

#include "model/bridge/aten.h"

namespace reel::model::ltx2 {

enum class Stream { kVideo, kAudio };

// What stands before the names of most of a stream's tensors.
inline std::string PrefixOf(Stream stream) { return stream == Stream::kVideo ? "" : "audio_"; }

// Tokens of both streams, [B, S, C or D] and [B, A, ...].
struct StreamTokens {
  at::Tensor video, audio;
};

}  // namespace reel::model::ltx2
