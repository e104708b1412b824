// SPDX-License-Identifier: Apache-2.0
// The sound that a request brings: its video has it, and the pictures follow it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/generation_spec.h"
#include "model/model_card.h"
#include "model/run_stats.h"
#include "model/violation_list.h"

namespace reel::model {

// What a file of sound is by its first bytes.
enum class SoundFile { kUnknown, kWav, kFlac, kMp3, kMp4 };
SoundFile SoundFileOf(std::string_view bytes);
// Its content type; empty if unknown.
std::string_view SoundTypeOf(std::string_view bytes);

// Null: the request brings none.
const Condition* OwnSoundOf(const GenerationSpec& spec);

// How many of the request's conditions are pictures and clips.
int64_t NumPictures(const GenerationSpec& spec);

// The rules of a request's sound.
void CheckOwnSound(const GenerationSpec& spec, const ModelCard& card, ViolationList& out);

// Tells that a decoded sound is longer or shorter than the video.
std::optional<Notice> OwnSoundNotice(const GenerationSpec& resolved);

}  // namespace reel::model
