// SPDX-License-Identifier: Apache-2.0
// The pictures of a clip that is refined window for window. They are encoded in pieces, held
// between the windows, and handed to the decoder as soon as no later window changes them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "model/bridge/aten.h"
#include "model/frames/frame_source.h"
#include "model/generation_spec.h"
#include "model/held_stretch.h"
#include "model/model_card.h"

namespace reel::model {

// On the host.
struct ClipInWindows {
  std::shared_ptr<const ConditionPixels> pixels;  // until they are encoded
  std::vector<Stretch> windows;                   // of latent frames
  size_t window = 0;                              // that is under way
  std::vector<at::Tensor> encoded;                // pieces, until there are latents
  // The whole clip's latents at the windows' size, [1, C, F, h, w] fp32, normalised. Undefined
  // until all pieces are encoded. The first `made` of them are final.
  at::Tensor latents;
  int64_t made = 0;

  const Stretch& place() const { return windows[window]; }
  size_t windows_left() const { return windows.size() - window - 1; }
  int64_t size() const { return windows.back().end; }
};

// Its windows and pixels, from a resolved request with decoded pixels. INVALID_ARGUMENT names what
// does not fit.
absl::StatusOr<ClipInWindows> PlanWindows(const GenerationSpec& spec, const ModelCard& card);

// Encodes `count` frames of `pixels` from frame `first` on to normalised latents, [1, C, f, h, w]
// fp32.
using EncodeFrames = absl::FunctionRef<at::Tensor(int64_t first, int64_t count)>;

// Encodes the next piece with `encode`; false: no piece is left.
bool EncodeNextPiece(ClipInWindows& clip, int64_t frames_per_latent, EncodeFrames encode);

// Stores the clip's upsampled latents and drops the pieces and pixels that they were made from.
void TakeLatents(ClipInWindows& clip, const at::Tensor& latents);

// Copies positions `begin` to `end` of `values` along dimension 2 to a device.
at::Tensor UploadPart(const at::Tensor& values, int64_t begin, int64_t end, at::Device device);
// A copy of `whole` with `part` in the place of those positions.
at::Tensor WithPart(const at::Tensor& whole, const Stretch& place, const at::Tensor& part);

// The clip after the current window, whose finished latents are `window`.
ClipInWindows BehindWindow(const ClipInWindows& clip, const at::Tensor& window);

// One latent of the clip, or of the window that is under way, where it lies.
at::Tensor LatentAt(const ClipInWindows& clip, int64_t index, const at::Tensor& window);

// How many of the clip's first latents no later window changes.
int64_t LatentsThatStay(const ClipInWindows& clip, bool window_is_done);

// Latents for a decoder, one at a time, and none while the next one may still change.
struct LatentsThatCome {
  int64_t all = 0;
  std::function<int64_t()> that_stay;
  std::function<at::Tensor(int64_t index)> decodable;  // as the decoder takes it
};
FrameSourcePtr SourceOf(LatentsThatCome latents);

}  // namespace reel::model
