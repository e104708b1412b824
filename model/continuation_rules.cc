// SPDX-License-Identifier: Apache-2.0
#include "model/continuation_rules.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/pass_work.h"
#include "model/utf8.h"

namespace reel::model {
namespace {

constexpr size_t kSha256Digits = 64;
constexpr char kPromote[] = "source.promote";

bool IsSha256(const std::string& text) {
  return text.size() == kSha256Digits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// E.g. "preset 'small' makes one pass; presets of several: a, b".
std::string OnePass(const GenerationSpec& spec, const ModelCard& card) {
  std::vector<std::string> several;
  for (const Preset& preset : card.presets) {
    if (NumPasses(preset.name, card) > 1) several.push_back(preset.name);
  }
  return absl::StrCat(spec.preset.empty() ? "a request without a preset"
                                          : absl::StrCat("preset ", Quoted(spec.preset)),
                      " makes one pass; ",
                      several.empty()
                          ? "this model has no preset of several"
                          : absl::StrCat("presets of several: ", absl::StrJoin(several, ", ")));
}

}  // namespace

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
  if (!spec.stop_after_pass) return;
  if (passes == 1) {
    out.Add("stop_after_pass", absl::StrCat(OnePass(spec, card), "; nearest: leave it out"));
    return;
  }
  out.InRange("stop_after_pass", int64_t{*spec.stop_after_pass}, int64_t{1}, int64_t{passes} - 1);
}

void CheckSource(const GenerationSpec& spec, ViolationList& out) {
  if (!spec.source) return;
  if (!spec.is_promotion()) {
    out.Add("source", "does not say how to go on from the video; nearest: promote");
  }
  const std::string& sha256 = spec.source->state_sha256;
  if (!sha256.empty() && !IsSha256(sha256)) {
    out.Add("source.state_sha256", absl::StrCat("is not 64 digits of lower-case hex, but ",
                                                sha256.size(), " bytes; nearest: leave it out"));
  }
}

}  // namespace reel::model
