// SPDX-License-Identifier: Apache-2.0
#include "model/family/clip_in_windows.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/bridge/upload.h"
#include "model/pass_work.h"
#include "model/refinement.h"

namespace reel::model {
namespace {

constexpr int64_t kInTime = 2;

absl::Status CheckPixels(const GenerationSpec& spec, const ModelCard& card) {
  const Condition& clip = *RefinedClipOf(spec);
  const FileSize size = RefinedClipSize(spec, card);
  if (clip.pixels == nullptr || clip.pixels->num_frames < 1) {
    return absl::InvalidArgumentError("a clip to refine has no decoded pixels");
  }
  const ConditionPixels& pixels = *clip.pixels;
  const auto bytes = static_cast<size_t>(pixels.width) * static_cast<size_t>(pixels.height) * 3 *
                     static_cast<size_t>(pixels.num_frames);
  if (pixels.width == size.width && pixels.height == size.height && pixels.rgb.size() == bytes) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a clip to refine is ", pixels.width, "x", pixels.height,
                   " pixels after scaling, the first pass ", size.width, "x", size.height));
}

int64_t LatentsIn(const std::vector<at::Tensor>& pieces) {
  int64_t latents = 0;
  for (const at::Tensor& piece : pieces) latents += piece.size(kInTime);
  return latents;
}

class ComingLatents final : public FrameSource {
 public:
  explicit ComingLatents(LatentsThatCome latents) : latents_(std::move(latents)) {}

  Frames Next(const Ops&) override {
    if (next_ == latents_.that_stay()) return {};
    const at::Tensor x = latents_.decodable(next_++);
    return {x, next_ == latents_.all};
  }

 private:
  const LatentsThatCome latents_;
  int64_t next_ = 0;
};

}  // namespace

absl::StatusOr<ClipInWindows> PlanWindows(const GenerationSpec& spec, const ModelCard& card) {
  REEL_RETURN_IF_ERROR(CheckPixels(spec, card));
  ClipInWindows clip;
  clip.pixels = RefinedClipOf(spec)->pixels;
  clip.windows = RefinementWindows(spec, card);
  return clip;
}

bool EncodeNextPiece(ClipInWindows& clip, int64_t frames_per_latent, EncodeFrames encode) {
  const int64_t all = clip.size(), done = LatentsIn(clip.encoded);
  if (done >= all) return false;
  const int64_t first = std::max<int64_t>(done - kLatentsBefore, 0);
  const int64_t last = std::min(done + kPieceLatents, all) - 1;
  const at::Tensor latents =
      encode(first * frames_per_latent, (last - first) * frames_per_latent + 1);
  clip.encoded.push_back(latents.slice(kInTime, done - first));
  return true;
}

void TakeLatents(ClipInWindows& clip, const at::Tensor& latents) {
  clip.latents = latents.cpu();
  clip.encoded.clear();
  clip.pixels.reset();
}

at::Tensor UploadPart(const at::Tensor& values, int64_t begin, int64_t end, at::Device device) {
  return Upload(values.slice(kInTime, begin, end), device);
}

at::Tensor WithPart(const at::Tensor& whole, const Stretch& place, const at::Tensor& part) {
  at::Tensor copy = whole.clone();
  copy.slice(kInTime, place.begin, place.end).copy_(part);
  return copy;
}

ClipInWindows BehindWindow(const ClipInWindows& clip, const at::Tensor& window) {
  ClipInWindows next = clip;
  next.latents = WithPart(clip.latents, clip.place(), window);
  next.made = clip.place().end;
  ++next.window;
  return next;
}

at::Tensor LatentAt(const ClipInWindows& clip, int64_t index, const at::Tensor& window) {
  const Stretch& place = clip.place();
  if (index < clip.made || index >= place.end) return clip.latents.narrow(kInTime, index, 1);
  return window.narrow(kInTime, index - place.begin, 1);
}

int64_t LatentsThatStay(const ClipInWindows& clip, bool window_is_done) {
  return window_is_done ? clip.place().end : clip.made;
}

FrameSourcePtr SourceOf(LatentsThatCome latents) {
  return std::make_unique<ComingLatents>(std::move(latents));
}

}  // namespace reel::model
