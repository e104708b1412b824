// SPDX-License-Identifier: Apache-2.0
#include "model/own_sound.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace reel::model {
namespace {

// What is missing is made in whole latents, which are as long.
constexpr double kShortSeconds = 0.04;

// Eleven set bits, then a version and the third layer.
bool BeginsMp3Frame(std::string_view bytes) {
  constexpr unsigned kSync = 0xE0, kLayer = 0x06, kThird = 0x02;
  if (bytes.size() < 2 || bytes[0] != '\xFF') return false;
  const auto second = static_cast<unsigned char>(bytes[1]);
  return (second & kSync) == kSync && (second & kLayer) == kThird;
}

bool IsSound(const Condition& condition) { return condition.is_sound(); }

std::string WhyNone(const ModelCard& card) {
  return card.sound.exists() ? "this model cannot read sounds; nearest: leave it out"
                             : "this model makes no sound; nearest: leave it out";
}

}  // namespace

SoundFile SoundFileOf(std::string_view bytes) {
  const auto at = [&](size_t offset, std::string_view magic) {
    return bytes.size() >= offset + magic.size() && bytes.substr(offset, magic.size()) == magic;
  };
  if (at(0, "RIFF") && at(8, "WAVE")) return SoundFile::kWav;
  if (at(0, "fLaC")) return SoundFile::kFlac;
  if (at(4, "ftyp")) return SoundFile::kMp4;
  if (at(0, "ID3") || BeginsMp3Frame(bytes)) return SoundFile::kMp3;
  return SoundFile::kUnknown;
}

std::string_view SoundTypeOf(std::string_view bytes) {
  switch (SoundFileOf(bytes)) {
    case SoundFile::kWav:
      return "audio/wav";
    case SoundFile::kFlac:
      return "audio/flac";
    case SoundFile::kMp3:
      return "audio/mpeg";
    case SoundFile::kMp4:
      return "audio/mp4";
    case SoundFile::kUnknown:
      break;
  }
  return {};
}

const Condition* OwnSoundOf(const GenerationSpec& spec) {
  const auto found = std::ranges::find_if(spec.conditions, IsSound);
  return found == spec.conditions.end() ? nullptr : &*found;
}

int64_t NumPictures(const GenerationSpec& spec) {
  return static_cast<int64_t>(spec.conditions.size()) -
         std::ranges::count_if(spec.conditions, IsSound);
}

void CheckOwnSound(const GenerationSpec& spec, const ModelCard& card, ViolationList& out) {
  bool has_one = false;
  for (size_t i = 0; i < spec.conditions.size(); ++i) {
    const Condition& condition = spec.conditions[i];
    if (!condition.is_sound()) continue;
    const std::string at = absl::StrCat("conditions[", i, "].");
    if (!card.own_sound.exists()) out.Add(at + "audio", WhyNone(card));
    if (has_one) out.Add(at + "audio", "is a second sound; nearest: leave it out");
    has_one = true;
    if (condition.frame_index != 0) {
      out.Add(at + "frame_index", absl::StrCat(condition.frame_index,
                                               ", but a sound begins with the video; nearest: 0"));
    }
    if (condition.strength.value_or(1) != 1) {
      out.Add(at + "strength",
              absl::StrCat(*condition.strength, ", but a sound is held as it is; nearest: 1"));
    }
  }
}

std::optional<Notice> OwnSoundNotice(const GenerationSpec& resolved) {
  const Condition* const condition = OwnSoundOf(resolved);
  if (condition == nullptr || condition->sound == nullptr) return std::nullopt;
  const ConditionSound& sound = *condition->sound;
  const double video = resolved.num_frames / resolved.frame_rate;
  if (sound.is_cut) {
    return Notice{
        "OWN_SOUND_CUT",
        absl::StrFormat("The sound is longer than the video, which ends after %.2f s; the "
                        "rest of it was left out.",
                        video)};
  }
  const double seconds = static_cast<double>(sound.samples()) / sound.format.sample_rate;
  if (seconds > video - kShortSeconds) return std::nullopt;
  return Notice{
      "OWN_SOUND_ENDS_EARLY",
      absl::StrFormat("The sound ends after %.2f s, the video after %.2f s; the model made "
                      "the sound behind it.",
                      seconds, video)};
}

}  // namespace reel::model
