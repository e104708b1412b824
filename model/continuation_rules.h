// SPDX-License-Identifier: Apache-2.0
// The part of spec_rules.h about drafts and the videos that go on from others.
#pragma once

#include "model/generation_spec.h"
#include "model/model_card.h"
#include "model/violation_list.h"

namespace reel::model {

// A draft leaves passes of its preset out, and a promotion makes them: the preset must have them.
void CheckPasses(const GenerationSpec& spec, const ModelCard& card, ViolationList& out);

// An extension or a retake makes one pass and starts from noise; its lengths are whole latents and
// within the video. False: the lengths that `num_frames` follows from are wrong, and told.
bool CheckHeld(const GenerationSpec& spec, const ModelCard& card, ViolationList& out);

// A source says how to go on from it. Whether its video exists is not checked here.
void CheckSource(const GenerationSpec& spec, ViolationList& out);

}  // namespace reel::model
