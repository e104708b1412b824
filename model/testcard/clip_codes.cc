// SPDX-License-Identifier: Apache-2.0
#include "model/testcard/clip_codes.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "model/held_stretch.h"
#include "model/own_sound.h"

namespace reel::model {
namespace {

// Of a code, each exact in fp32: the hash's halves, and the frame.
constexpr size_t kParts = 3;

int FirstFrame(int latent, const ModelCard& card) {
  const Stretch frames = FramesOf({latent, latent + 1}, card.temporal_multiple);
  return static_cast<int>(frames.begin);
}

absl::StatusOr<ClipCodes> Extended(const GenerationSpec& resolved, const ModelCard& card,
                                   const ClipCodes& source) {
  ClipCodes codes = OwnCodes(resolved, card);
  const int latent = card.temporal_multiple;
  const int overlap = resolved.source->extend.overlap_frames;
  const auto held = static_cast<size_t>((overlap - 1) / latent + 1);
  if (held > source.size() || held > codes.size()) {
    return absl::FailedPreconditionError(
        absl::StrCat("it has ", source.size(), " latents, fewer than the overlap's ", held));
  }
  std::copy_n(source.end() - static_cast<std::ptrdiff_t>(held), held, codes.begin());
  // The first one stands for the last of its frames alone.
  if (held < source.size()) codes[0].frame += latent - 1;
  return codes;
}

}  // namespace

std::string SubjectOf(const GenerationSpec& resolved) {
  const Condition* const sound = OwnSoundOf(resolved);
  return sound == nullptr ? resolved.prompt : absl::StrCat(resolved.prompt, "\n", sound->sha256);
}

ClipCodes OwnCodes(const GenerationSpec& resolved, const ModelCard& card) {
  const uint32_t hash =
      PictureHash(SubjectOf(resolved), *resolved.seed, resolved.width, resolved.height);
  ClipCodes codes;
  for (int latent = 0; FirstFrame(latent, card) < resolved.num_frames; ++latent) {
    codes.push_back({hash, FirstFrame(latent, card)});
  }
  return codes;
}

absl::StatusOr<ClipCodes> CodesWithHeld(const GenerationSpec& resolved, const ModelCard& card,
                                        const ClipCodes& source) {
  if (resolved.is_extension()) return Extended(resolved, card, source);
  ClipCodes codes = OwnCodes(resolved, card);
  if (codes.size() != source.size()) {
    return absl::FailedPreconditionError(
        absl::StrCat("it has ", source.size(), " latents instead of ", codes.size()));
  }
  if (resolved.source->retake.keep_pictures) return source;
  const Stretch free = RetakenLatents(resolved, card.temporal_multiple);
  std::copy_n(source.begin(), free.begin, codes.begin());
  std::copy(source.begin() + free.end, source.end(), codes.begin() + free.end);
  return codes;
}

PictureCode CodeOf(const ClipCodes& codes, int frame, const ModelCard& card) {
  const int latent = (frame + card.temporal_multiple - 1) / card.temporal_multiple;
  PictureCode code = codes[static_cast<size_t>(latent)];
  code.frame += frame - FirstFrame(latent, card);
  return code;
}

StateTensor TensorOf(const ClipCodes& codes) {
  std::vector<float> values;
  for (const PictureCode& code : codes) values.push_back(static_cast<float>(code.hash >> 16));
  for (const PictureCode& code : codes) values.push_back(static_cast<float>(code.hash & 0xFFFF));
  for (const PictureCode& code : codes) values.push_back(static_cast<float>(code.frame));
  return {StateTensor::Type::kF32,
          {1, int64_t{kParts}, static_cast<int64_t>(codes.size()), 1, 1},
          std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float))};
}

absl::StatusOr<ClipCodes> CodesOf(const PassState& state) {
  const auto found = state.tensors.find(PassState::kLatents);
  constexpr size_t kCodeBytes = kParts * sizeof(float);
  if (found == state.tensors.end() || found->second.bytes.size() % kCodeBytes != 0) {
    return absl::FailedPreconditionError("the latents are not a test card's");
  }
  ClipCodes codes(found->second.bytes.size() / kCodeBytes);
  if (found->second.shape != TensorOf(codes).shape) {
    return absl::FailedPreconditionError("the latents are not a test card's");
  }
  std::vector<float> values(codes.size() * kParts);
  std::memcpy(values.data(), found->second.bytes.data(), found->second.bytes.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    // Bounded, since they come from a file.
    const auto part = [&](size_t number) {
      return static_cast<uint32_t>(std::clamp(values[number * codes.size() + i], 0.0f, 65535.0f));
    };
    codes[i] = {part(0) << 16 | part(1), static_cast<int>(part(2))};
  }
  return codes;
}

}  // namespace reel::model
