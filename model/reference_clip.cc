// SPDX-License-Identifier: Apache-2.0
#include "model/reference_clip.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/utf8.h"

namespace reel::model {
namespace {

std::optional<ReferenceScale> WantedBy(const RequestAdapter& adapter, const ModelCard* card) {
  if (adapter.scale == 0) return std::nullopt;  // as if it were left out
  if (card == nullptr || !adapter.path.empty()) return adapter.reference;
  const auto offer = std::ranges::find(card->adapters, adapter.name, &AdapterOffer::name);
  return offer == card->adapters.end() ? std::nullopt : offer->reference;
}

std::optional<ReferenceScale> FirstWanted(const GenerationSpec& spec, const ModelCard* card) {
  for (const RequestAdapter& adapter : spec.adapters) {
    if (const auto scale = WantedBy(adapter, card); scale.has_value()) return scale;
  }
  return std::nullopt;
}

// Lists the model's adapters that want a clip, without those that are for some tenants only.
std::string WhoWantsOne(const ModelCard& card) {
  std::vector<std::string> names;
  for (const AdapterOffer& offer : card.adapters) {
    if (offer.reference.has_value() && offer.tenants.empty()) names.push_back(offer.name);
  }
  return names.empty() ? "leave it out"
                       : absl::StrCat("name one that does: ", absl::StrJoin(names, ", "));
}

void CheckReferenceClip(const Condition& clip, const std::string& field, ViolationList& out) {
  if (clip.kind != Condition::Kind::kVideo) {
    out.Add(absl::StrCat(field, ".", FieldOf(clip.kind)),
            "only a clip is a reference; nearest: a video");
  }
  if (clip.frame_index != 0) {
    out.Add(field + ".frame_index", absl::StrCat(clip.frame_index,
                                                 ", but a reference begins with the video; "
                                                 "nearest: 0"));
  }
}

void CheckReferenceClips(const GenerationSpec& spec, const ModelCard& card, ViolationList& out) {
  const bool wanted = FirstWanted(spec, &card).has_value();
  const Condition* const first = ReferenceClipOf(spec);
  for (size_t i = 0; i < spec.conditions.size(); ++i) {
    const Condition& clip = spec.conditions[i];
    if (!clip.is_reference()) continue;
    const std::string field = absl::StrCat("conditions[", i, "]");
    if (!card.takes_references) {
      out.Add(field + ".use", "this model takes no reference clips; nearest: leave it out");
    } else if (&clip != first) {
      out.Add(field + ".use", "is a second reference; nearest: leave it out");
    } else if (!wanted) {
      out.Add(field + ".use", absl::StrCat("is a reference, but no adapter of the request wants "
                                           "one; nearest: ",
                                           WhoWantsOne(card)));
    } else {
      CheckReferenceClip(clip, field, out);
    }
  }
}

// Why a request with no clip cannot have an adapter that wants one, and what to do.
std::string WithoutClip(const GenerationSpec& spec, const ModelCard& card) {
  if (!card.takes_references) return ", which this model does not take; nearest: leave it out";
  if (spec.holds_latents()) {
    return absl::StrCat(", but source.", spec.is_extension() ? "extend" : "retake",
                        " holds latents in place of conditions; nearest: scale 0");
  }
  return ", and the request has none; nearest: a condition with use CONDITION_USE_REFERENCE";
}

void CheckWantingAdapters(const GenerationSpec& spec, const ModelCard& card, ViolationList& out) {
  const bool has_clip = card.takes_references && ReferenceClipOf(spec) != nullptr;
  bool has_one = false;
  for (size_t i = 0; i < spec.adapters.size(); ++i) {
    const RequestAdapter& adapter = spec.adapters[i];
    if (!WantedBy(adapter, &card).has_value()) continue;
    const std::string field = absl::StrCat("adapters[", i, "].name");
    if (!has_clip) {
      out.Add(
          field,
          absl::StrCat(Quoted(adapter.name), " wants a reference clip", WithoutClip(spec, card)),
          "ADAPTER_WANTS_REFERENCE");
    } else if (has_one) {
      out.Add(field, absl::StrCat(Quoted(adapter.name),
                                  " is a second adapter that wants a reference clip; nearest: "
                                  "one of them"));
    }
    has_one = true;
  }
}

}  // namespace

const Condition* ReferenceClipOf(const GenerationSpec& spec) {
  const auto found = std::ranges::find_if(spec.conditions, &Condition::is_reference);
  return found == spec.conditions.end() ? nullptr : &*found;
}

std::optional<ReferenceScale> ReferenceScaleOf(const GenerationSpec& spec, const ModelCard& card) {
  return FirstWanted(spec, &card);
}

std::optional<ReferenceScale> ReferenceScaleOf(const GenerationSpec& spec) {
  return FirstWanted(spec, nullptr);
}

FileSize ReferenceSize(const FileSize& video, const ReferenceScale& scale) {
  return {video.width / scale.sides, video.height / scale.sides};
}

int ReferenceFrames(int video_frames, const ReferenceScale& scale, int temporal_multiple) {
  if (video_frames < 2) return 1;
  const int behind_first = (video_frames - 2) / scale.frames + 1;
  return behind_first / temporal_multiple * temporal_multiple + 1;
}

int64_t ReferenceTokens(const GenerationSpec& spec, const FileSize& pass, const ModelCard& card) {
  if (ReferenceClipOf(spec) == nullptr) return 0;
  const std::optional<ReferenceScale> scale = ReferenceScaleOf(spec, card);
  if (!scale.has_value()) return 0;
  const FileSize size = ReferenceSize(pass, *scale);
  const int frames = ReferenceFrames(spec.num_frames, *scale, card.temporal_multiple);
  return int64_t{(frames - 1) / card.temporal_multiple + 1} *
         (size.height / card.spatial_multiple) * (size.width / card.spatial_multiple);
}

void CheckReference(const GenerationSpec& spec, const ModelCard& card, ViolationList& out) {
  CheckReferenceClips(spec, card, out);
  CheckWantingAdapters(spec, card, out);
}

std::vector<Notice> ReferenceNotices(const GenerationSpec& resolved, int temporal_multiple) {
  const Condition* const clip = ReferenceClipOf(resolved);
  const std::optional<ReferenceScale> scale = ReferenceScaleOf(resolved);
  if (clip == nullptr || clip->pixels == nullptr || !scale.has_value()) return {};
  const double seconds = resolved.num_frames / resolved.frame_rate;
  if (clip->pixels->is_cut) {
    return {{"REFERENCE_CLIP_CUT",
             absl::StrFormat("The reference clip is longer than the video, which ends after "
                             "%.2f s; the rest of it was left out.",
                             seconds)}};
  }
  const int frames = clip->pixels->num_frames;
  if (frames >= ReferenceFrames(resolved.num_frames, *scale, temporal_multiple)) return {};
  const double end = ((frames - 1) * scale->frames + 1) / resolved.frame_rate;
  return {{"REFERENCE_CLIP_ENDS_EARLY",
           absl::StrFormat("The reference clip ends after %.2f s, the video after %.2f s; behind "
                           "it the video has no reference.",
                           end, seconds)}};
}

}  // namespace reel::model
