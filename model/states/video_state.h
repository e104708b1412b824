// SPDX-License-Identifier: Apache-2.0
// The state that a finished video keeps, as one safetensors file: what its passes left, its
// resolved spec, and the model that made it. A whole video's has its MP4 file, too, with which a
// joined one begins. The same video gives the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/generation_spec.h"
#include "model/model_card.h"
#include "model/pass_state.h"

namespace reel::model {

struct VideoState {
  // Of the video; a draft's conditions with their bytes, which later passes encode anew. Without
  // what names it among other videos: its source, its worker, whether it is kept.
  GenerationSpec spec;
  std::string family;
  std::string weights_sha256;  // empty without a manifest
  int64_t parameters = 0;
  std::string fixed_adapters;  // in the weights, as one text
  std::string build;           // the version that wrote it
  PassState made;
  std::string file;  // the MP4; empty: none is kept
};

// `spec` is resolved; a draft's conditions must have their bytes. `file`: of a whole video; where
// it would make the state too large it is left out.
std::string WriteState(const GenerationSpec& spec, const ModelCard& card, const PassState& made,
                       std::string file = {});

// Expects hostile bytes. FAILED_PRECONDITION names the broken rule.
absl::StatusOr<VideoState> ReadState(std::string_view file);

// Whether a resolved request that goes on from a video can begin from its state: a promotion needs
// all of its spec, others its sizes and adapters. FAILED_PRECONDITION names everything that
// differs, and no value of a prompt.
absl::Status CheckFits(const VideoState& state, const GenerationSpec& resolved,
                       const ModelCard& card);

// The spec that promotes this draft. The state itself comes along with it.
GenerationSpec PromotionOf(const VideoState& draft);

}  // namespace reel::model
