// SPDX-License-Identifier: Apache-2.0
// A clip of any origin in place of a film's first pass: encoded, upsampled, and refined by the
// second pass, window for window.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "model/bridge/ops.h"
#include "model/family/clip_in_windows.h"
#include "model/frames/frame_source.h"
#include "model/generation_spec.h"
#include "model/held_stretch.h"
#include "model/ltx2/ltx2_model.h"
#include "model/ltx2/stream_latents.h"
#include "model/model_card.h"

namespace reel::model::ltx2 {

class Ltx2Generation;

// On the host.
struct RefinedClip {
  ClipInWindows pictures;
  std::shared_ptr<const ConditionSound> carried_sound;  // null: the film has the model's
  std::vector<Stretch> sound_windows;                   // of latents
  // [1, C, A, bins], normalised. So many of its first latents are made or held, and stay.
  at::Tensor sound;
  int64_t sound_made = 0;
  bool knows_sound = false;  // the model makes none of the film's sound

  // Number of later tokens that a token's samples depend on.
  int64_t sound_ahead = 0;
  // By sound piece: number of leading picture latents whose frames may leave once it is pushed.
  std::vector<int64_t> latents_with_sound;

  const Stretch& sound_place() const { return sound_windows[pictures.window]; }
};

// Sets the sizes and the schedule of the generation, and what it refines, from a resolved request
// with decoded pixels. `window`: the sizes of each. INVALID_ARGUMENT names what does not fit.
absl::Status PlanRefinement(const Ltx2Model& model, const ModelCard& card,
                            const GenerationSpec& spec, const LatentSizes& window,
                            Ltx2Generation& generation);

// Encodes the next piece of the clip; upsamples it behind the last one. True: it is done.
bool EncodeRefined(const Ops& ops, const Ltx2Model& model, Ltx2Generation& generation);

// Begins the first window once texts and clip are encoded, or the one behind a window that is done.
// Its latents get noise, but for those that the window before has made, which are held. The
// generation changes at the end only.
void BeginWindow(const Ltx2Model& model, Ltx2Generation& generation);

// The clip's latents with those of the window that is under way, on the host.
at::Tensor RefinedPictures(const Ltx2Generation& generation);
at::Tensor RefinedSound(const Ltx2Generation& generation);
// The frame in the clip's middle alone, where it lies.
at::Tensor RefinedMiddle(const Ltx2Generation& generation);

// How many of the clip's first latents no later window changes.
int64_t LatentsThatStay(const Ltx2Generation& generation);
// As LatentsThatStay, limited to latents whose sound is final, for sound that the model makes.
int64_t LatentsWithSound(const Ltx2Generation& generation);
// Audio latents of each sound piece: one piece with all of them, or what each window adds.
std::vector<Stretch> SoundPieces(const RefinedClip& clip);
int SoundPiecesThatStay(const Ltx2Generation& generation);
// These latents for the decoder, one at a time; none while the next does not exist yet. Borrows
// its arguments.
FrameSourcePtr RefinedSource(const Ltx2Model& model, const Ltx2Generation& generation);

}  // namespace reel::model::ltx2
