// SPDX-License-Identifier: Apache-2.0
// The reference clip of a request, which an adapter (IC-LoRA) wants: its size, its tokens, its
// rules and its notices.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/generation_spec.h"
#include "model/model_card.h"
#include "model/pass_work.h"
#include "model/run_stats.h"
#include "model/violation_list.h"

namespace reel::model {

// Null: the request has none.
const Condition* ReferenceClipOf(const GenerationSpec& spec);

// The scale of the clip that one of the request's adapters wants; nullopt: none wants one. Adapters
// that a server has looked up have it themselves, for others it is in the card's offers.
std::optional<ReferenceScale> ReferenceScaleOf(const GenerationSpec& spec, const ModelCard& card);
// The same where videos are made: all adapters are looked up.
std::optional<ReferenceScale> ReferenceScaleOf(const GenerationSpec& spec);

// What the clip is scaled to for a video or a pass of this size.
FileSize ReferenceSize(const FileSize& video, const ReferenceScale& scale);

// The most frames of the clip that count for a video of so many. They are the first, then one of
// `scale.frames`, as far as they fill latents of `temporal_multiple` frames.
int ReferenceFrames(int video_frames, const ReferenceScale& scale, int temporal_multiple);

// The most tokens that the request's clip adds to a pass of this size; 0 without one.
int64_t ReferenceTokens(const GenerationSpec& spec, const FileSize& pass, const ModelCard& card);

// The rules of a reference clip and of the adapter that wants it. The request is filled, its
// adapters are in the caller's order.
void CheckReference(const GenerationSpec& spec, const ModelCard& card, ViolationList& out);

// Tells that a decoded clip is longer or shorter than the video.
std::vector<Notice> ReferenceNotices(const GenerationSpec& resolved, int temporal_multiple);

}  // namespace reel::model
