// SPDX-License-Identifier: Apache-2.0
// A clip of any origin in place of a first pass: its rules, the windows that it is refined in, and
// what its caller is told.
#pragma once

#include <string>
#include <vector>

#include "model/generation_spec.h"
#include "model/held_stretch.h"
#include "model/model_card.h"
#include "model/pass_work.h"
#include "model/run_stats.h"
#include "model/violation_list.h"

namespace reel::model {

// The autoencoder encodes about five seconds at a time. It depends on earlier frames, so each piece
// begins with latents that are encoded again and dropped.
inline constexpr int64_t kPieceLatents = 16, kLatentsBefore = 4;

// Null: the request refines none.
const Condition* RefinedClipOf(const GenerationSpec& spec);

// Names of the card's presets that can refine a clip.
std::vector<std::string> RefiningPresets(const ModelCard& card);

// A preset that is left out: the first that refines. A strength: the noise with which the preset's
// second pass begins.
void FillRefinement(GenerationSpec& spec, const ModelCard& card);

// The rules of a clip that is refined. The request is filled.
void CheckRefinement(const GenerationSpec& spec, const ModelCard& card, ViolationList& out);

// The most frames of a video of this rate: 30 s, and those that fill the last latent.
int MostRefinedFrames(const GenerationSpec& spec, const ModelCard& card);

// What the clip is scaled to: the size of the pass that it stands in place of.
FileSize RefinedClipSize(const GenerationSpec& resolved, const ModelCard& card);

// 1000 times the noise of each step: that of the request's strength, then those of the preset's
// second pass that are below it. Empty for presets that cannot refine.
std::vector<double> RefinementTimesteps(const GenerationSpec& resolved, const ModelCard& card);

// Which latent frames are refined together: all of them, or windows of one length that are as long
// as the model takes. Each begins with kOverlapFrames of the one before, or more, which are held.
std::vector<Stretch> RefinementWindows(const GenerationSpec& resolved, const ModelCard& card);

// The second pass, once for each window.
std::vector<PassWork> RefinementPasses(const GenerationSpec& resolved, const ModelCard& card);

// Tells that a decoded clip is longer or shorter than the video.
std::vector<Notice> RefinementNotices(const GenerationSpec& resolved);

}  // namespace reel::model
