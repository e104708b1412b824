// SPDX-License-Identifier: Apache-2.0
#include "model/continuation_rules.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/digest/sha256.h"
#include "model/held_stretch.h"
#include "model/pass_work.h"
#include "model/utf8.h"

namespace reel::model {
namespace {

constexpr char kPromote[] = "source.promote";
constexpr double kMostSeconds = 86'400;

// The names of presets that make several passes, or of those that make one.
std::string PresetsOf(const ModelCard& card, bool several) {
  std::vector<std::string> names;
  for (const Preset& preset : card.presets) {
    if ((NumPasses(preset.name, card) > 1) == several) names.push_back(preset.name);
  }
  return absl::StrJoin(names, ", ");
}

// E.g. "preset 'small' makes one pass; presets of several: a, b".
std::string OnePass(const GenerationSpec& spec, const ModelCard& card) {
  const std::string several = PresetsOf(card, true);
  return absl::StrCat(spec.preset.empty() ? "a request without a preset"
                                          : absl::StrCat("preset ", Quoted(spec.preset)),
                      " makes one pass; ",
                      several.empty() ? "this model has no preset of several"
                                      : absl::StrCat("presets of several: ", several));
}

// What an extension or a retake cannot have beside the latents that it holds. `begin`: its field.
void CheckBesideHeld(const GenerationSpec& spec, const ModelCard& card, const std::string& begin,
                     ViolationList& out) {
  if (NumPasses(spec.preset, card) > 1) {
    const std::string one = PresetsOf(card, false);
    out.Add("preset", absl::StrCat("preset ", Quoted(spec.preset),
                                   " makes several passes, but the latents "
                                   "that ",
                                   begin, " holds have the size of the last one alone; nearest: ",
                                   one.empty() ? "a video of one pass" : one));
  }
  if (spec.stop_after_pass) {
    out.Add("stop_after_pass", absl::StrCat(begin, " makes one pass; nearest: leave it out"));
  }
  if (!spec.conditions.empty()) {
    out.Add("conditions", absl::StrCat(spec.conditions.size(), " given beside ", begin,
                                       ", which holds latents in their place; nearest: 0"));
  }
  if (spec.denoise_strength.value_or(1) != 1) {
    out.Add("denoise_strength", absl::StrCat(*spec.denoise_strength, " given, but what ", begin,
                                             " makes starts from noise; nearest: 1"));
  }
}

// A joined file obeys the frame limit, and its sound goes over from one to the other within the
// overlap.
void CheckJoin(const GenerationSpec& spec, const ModelCard& card, ViolationList& out) {
  const Source::Extend& extend = spec.source->extend;
  const int grid = card.temporal_multiple;
  const int room = card.limits.max_frames - extend.source_frames;
  if (extend.num_frames > room) {
    out.Add("source.extend.num_frames",
            absl::StrCat(
                extend.num_frames, " behind the ", extend.source_frames,
                " frames of the source's file are above ", card.limits.max_frames,
                "; nearest: ", room < grid ? "leave join out" : absl::StrCat(room / grid * grid)));
  }
  if (!card.sound.exists() || !spec.sound.value_or(true)) return;
  const double frames = kSeamSamples * spec.frame_rate / card.sound.sample_rate;
  const int least = static_cast<int>(std::ceil(frames / grid)) * grid + 1;
  if (extend.overlap_frames < least) {
    out.Add("source.extend.overlap_frames",
            absl::StrCat(
                extend.overlap_frames,
                " are too few for the sound to go over from one to the other; nearest: ", least));
  }
}

bool CheckExtend(const GenerationSpec& spec, const ModelCard& card, ViolationList& out) {
  const Source::Extend& extend = spec.source->extend;
  const ViolationList::Grid added{card.temporal_multiple, 0, card.temporal_multiple,
                                  card.limits.max_frames - 1};
  const ViolationList::Grid held{card.temporal_multiple, 1, 1,
                                 std::max(card.limits.max_frames - card.temporal_multiple, 1)};
  bool fits = out.OnGrid("source.extend.num_frames", extend.num_frames, added);
  fits = out.OnGrid("source.extend.overlap_frames", extend.overlap_frames, held) && fits;
  if (!fits) return false;
  const int frames = extend.overlap_frames + extend.num_frames;
  if (frames > card.limits.max_frames) {
    const int room = card.limits.max_frames - extend.overlap_frames;
    out.Add("source.extend.num_frames",
            absl::StrCat(extend.num_frames, " behind the ", extend.overlap_frames,
                         " that are held are above ", card.limits.max_frames,
                         "; nearest: ", room / card.temporal_multiple * card.temporal_multiple));
    return false;
  }
  if (extend.join) CheckJoin(spec, card, out);
  if (spec.num_frames == frames) return true;
  out.Add("num_frames", absl::StrCat(spec.num_frames,
                                     " is not that of source.extend, overlap and "
                                     "new frames; nearest: ",
                                     frames));
  return false;
}

void CheckRetake(const GenerationSpec& spec, const ModelCard& card, ViolationList& out) {
  const Source::Retake& retake = spec.source->retake;
  const double seconds = spec.num_frames / spec.frame_rate;
  // Less than a frame behind is the video's end, rounded: 33 frames at 24 a second end at 1.38 s.
  if ((retake.end - seconds) * spec.frame_rate >= 1) {
    out.Add("source.retake.end",
            absl::StrCat(retake.end, " s is behind the video's end; nearest: ", seconds, " s"));
  }
  if (card.sound.exists()) return;
  for (const auto& [field, keeps] : {std::pair("keep_pictures", retake.keep_pictures),
                                     std::pair("keep_sound", retake.keep_sound)}) {
    if (!keeps) continue;
    out.Add(absl::StrCat("source.retake.", field),
            "this model makes no sound, so there is nothing else to make; nearest: leave it out");
  }
}

void CheckRetakeAlone(const Source::Retake& retake, ViolationList& out) {
  const bool begins = out.InRange("source.retake.begin", retake.begin, 0.0, kMostSeconds);
  const bool ends = out.InRange("source.retake.end", retake.end, 0.0, kMostSeconds);
  if (begins && ends && retake.begin >= retake.end) {
    out.Add("source.retake.end",
            absl::StrCat(retake.end, " s is not behind the begin, which is ", retake.begin, " s"));
  }
  if (retake.keep_pictures && retake.keep_sound) {
    out.Add("source.retake.keep_sound",
            "is set beside keep_pictures, which leaves nothing to make; nearest: one of them");
  }
}

}  // namespace

bool CheckHeld(const GenerationSpec& spec, const ModelCard& card, ViolationList& out) {
  if (!spec.holds_latents()) return true;
  CheckBesideHeld(spec, card, spec.is_extension() ? "source.extend" : "source.retake", out);
  if (spec.is_extension()) return CheckExtend(spec, card, out);
  CheckRetake(spec, card, out);
  return true;
}

void CheckPasses(const GenerationSpec& spec, const ModelCard& card, ViolationList& out) {
  const int passes = NumPasses(spec.preset, card);
  if (spec.is_promotion()) {
    if (passes == 1) out.Add(kPromote, OnePass(spec, card));
    if (spec.stop_after_pass) {
      out.Add("stop_after_pass",
              "a promotion makes all passes that are left; nearest: leave it out");
    }
    return;
  }
  if (!spec.stop_after_pass || spec.holds_latents()) return;
  if (passes == 1) {
    out.Add("stop_after_pass", absl::StrCat(OnePass(spec, card), "; nearest: leave it out"));
    return;
  }
  out.InRange("stop_after_pass", int64_t{*spec.stop_after_pass}, int64_t{1}, int64_t{passes} - 1);
}

void CheckSource(const GenerationSpec& spec, ViolationList& out) {
  if (!spec.source) return;
  if (spec.source->begin == Source::Begin::kUnspecified) {
    out.Add("source",
            "does not say how to go on from the video; nearest: promote, extend or retake");
  }
  if (spec.is_retake()) CheckRetakeAlone(spec.source->retake, out);
  const std::string& sha256 = spec.source->state_sha256;
  if (!sha256.empty() && !IsSha256Hex(sha256)) {
    out.Add("source.state_sha256", absl::StrCat("is not 64 digits of lower-case hex, but ",
                                                sha256.size(), " bytes; nearest: leave it out"));
  }
}

}  // namespace reel::model
