// SPDX-License-Identifier: Apache-2.0
// The stretch of a retake in whole latents: a latent frame is made anew or held, never a part of
// it.
#pragma once

#include <cstdint>
#include <string>

#include "model/generation_spec.h"

namespace reel::model {

// So many latent frames of the source, in front of an extension, its decode sees and does not show.
// A decoder looks at both sides, and takes the first latent that it gets for a single frame.
inline constexpr int kContextLatents = 4;

// The least samples between a joined file's seam and its source's end. Sound is ahead of pictures
// by some of them, and needs the others to go over into other sound.
inline constexpr int kSeamSamples = 6 * 1024;

// The frames that a resolved request decodes: an extension those in front of it, too.
int DecodedFrames(const GenerationSpec& resolved, int frames_per_latent);

// Positions in time from `begin` on, without `end`.
struct Stretch {
  int64_t begin = 0, end = 0;

  friend bool operator==(const Stretch&, const Stretch&) = default;
};

// The least whole latent frames around what a resolved retake asks for; at least one. The first
// latent frame stands for one frame, each other for `frames_per_latent`.
Stretch RetakenLatents(const GenerationSpec& retake, int frames_per_latent);

// The frames that those latents stand for.
Stretch FramesOf(const Stretch& latents, int frames_per_latent);

// The least latents of sound around those frames, of `count` that there are. Behind the last frame
// all are the retake's.
Stretch RetakenSound(const GenerationSpec& retake, int frames_per_latent, double latents_per_second,
                     int64_t count);

// For people: which frames a retake makes anew, where those are not just the seconds that were
// asked for. Else, and for other requests, empty.
std::string RetakeNotice(const GenerationSpec& resolved, int frames_per_latent);

}  // namespace reel::model
