// SPDX-License-Identifier: Apache-2.0
// Decodes the beginning of a sound from the bytes of a WAV, FLAC, MP3 or MP4 file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/generation_spec.h"

namespace reel::worker {

// At most `max_samples` of each channel of the first track of sound, at the rate of `format` and in
// one or two channels, as it says. A single channel becomes both. `proceed` is called between any
// two pieces of work, and its error ends the decoding. INVALID_ARGUMENT with the end of a sentence
// about the sound ("contains no sound"): another file or codec, a rate or number of channels that
// is not taken, or broken.
absl::StatusOr<std::shared_ptr<const model::ConditionSound>> DecodeSound(
    const std::string& bytes, const model::SoundFormat& format, int64_t max_samples,
    absl::FunctionRef<absl::Status()> proceed);

// Whether an MP4 file has a track of sound. False for what cannot be read at all.
bool HasSound(const std::string& bytes);

}  // namespace reel::worker
