// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/facade_words.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace reel::front {
namespace {

constexpr FacadeWord kWords[] = {
    {"prompt", WordKind::kText},
    {"model", WordKind::kText},
    {"size", WordKind::kText},
    {"width", WordKind::kWhole},
    {"height", WordKind::kWhole},
    {"fps", WordKind::kNumber},
    {"num_frames", WordKind::kWhole},
    {"seconds", WordKind::kNumber},
    {"seed", WordKind::kWhole},
    {"n", WordKind::kWhole},
    {"num_inference_steps", WordKind::kWhole},
    {"preset", WordKind::kText},
    {"kernels", WordKind::kKernels},
    {"guidance_scale", WordKind::kNumber},
    {"negative_prompt", WordKind::kText},
    {"sound", WordKind::kFlag},
    {"keep_state", WordKind::kFlag},
    {"input_reference", WordKind::kReference},
    {"reference_video", WordKind::kReferenceClip},
    {"loras", WordKind::kAdapters},
    {"preview", WordKind::kPreview},
    {"origin", WordKind::kText},
    {"priority", WordKind::kText},
    {"timeout", WordKind::kNumber},
    {"extra_body", WordKind::kObject},
    {"extra_params", WordKind::kObject},
};

constexpr ForeignWord kForeign[] = {
    {"num_outputs_per_prompt", "1"},
    {"num_videos_per_prompt", "1"},
    {"response_format", "mp4|video"},
    {"output_format", "mp4|auto"},
    {"quality", "standard|auto"},
    {"output_quality", "auto"},
    {"background", "auto"},
    {"style", "auto"},
    {"user", "*"},
    {"generator_device", "cpu|cuda"},
    {"save_output", "*"},
    {"stream", ""},
    {"enable_teacache", ""},
    {"enable_upscaling", ""},
    {"enable_frame_interpolation", ""},
    {"return_frames", ""},
    {"profile", ""},
    {"flow_shift", ""},
    {"guidance_scale_2", ""},
    {"true_cfg_scale", ""},
    {"boundary_ratio", ""},
    {"max_sequence_length", ""},
    {"output_path", ""},
    {"output_compression", ""},
    {"diffusers_kwargs", ""},
    {"lora", ""},
};

absl::string_view AbslText(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

bool IsFacadeWord(std::string_view name) {
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [name](const FacadeWord& word) { return word.name == name; });
}

absl::Span<const FacadeWord> AllFacadeWords() { return kWords; }

std::vector<std::string> FacadeWords() {
  std::vector<std::string> names;
  for (const FacadeWord& word : kWords) names.emplace_back(word.name);
  return names;
}

const ForeignWord* FindForeignWord(std::string_view name) {
  const auto found = std::find_if(std::begin(kForeign), std::end(kForeign),
                                  [name](const ForeignWord& word) { return word.name == name; });
  return found == std::end(kForeign) ? nullptr : found;
}

bool AsksForNothing(const ForeignWord& word, std::string_view value) {
  if (word.harmless == "*") return true;
  for (const absl::string_view none : {"", "null", "none", "false", "default"}) {
    if (absl::EqualsIgnoreCase(AbslText(value), none)) return true;
  }
  for (const absl::string_view one :
       absl::StrSplit(AbslText(word.harmless), '|', absl::SkipEmpty())) {
    if (AbslText(value) == one) return true;
  }
  return false;
}

}  // namespace reel::front
