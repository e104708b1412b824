// SPDX-License-Identifier: Apache-2.0
#include "model/resolve.h"

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/adapter_rules.h"
#include "model/reference_clip.h"
#include "model/refinement.h"
#include "model/spec_defaults.h"
#include "model/spec_rules.h"
#include "model/utf8.h"
#include "model/violation_list.h"

namespace reel::model {
namespace {

void CheckModelName(const GenerationSpec& spec, const ModelCard& card, ViolationList& out) {
  if (spec.model == card.name) return;
  out.Add("model", absl::StrCat(Quoted(spec.model), " is not this model; nearest: ", card.name));
}

// Null without a preset, and for an unknown one, which is a violation.
const Preset* ChosenPreset(const GenerationSpec& spec, const ModelCard& card, ViolationList& out) {
  if (spec.preset.empty()) return nullptr;
  const Preset* preset = FindPreset(card, spec.preset);
  if (preset != nullptr) return preset;
  const std::string names = absl::StrJoin(
      card.presets, ", ", [](std::string* text, const Preset& known) { *text += known.name; });
  out.Add("preset", absl::StrCat(Quoted(spec.preset), " is not a preset of this model; ",
                                 names.empty() ? "it has none: leave it out" : "known: ", names));
  return nullptr;
}

// Frames of an extension are counted by its source alone.
void FillExtension(GenerationSpec& spec) {
  if (!spec.is_extension()) return;
  Source::Extend& extend = spec.source->extend;
  if (extend.overlap_frames == 0) extend.overlap_frames = kOverlapFrames;
  const int64_t frames = int64_t{extend.overlap_frames} + extend.num_frames;
  const bool counts = frames > 0 && frames <= std::numeric_limits<int>::max();
  if (spec.num_frames == 0 && counts) spec.num_frames = static_cast<int>(frames);
}

}  // namespace

Resolution Resolve(const GenerationSpec& sent, const ModelCard& card, const RequestLimits& limits,
                   uint64_t fresh_seed) {
  ViolationList violations;
  CheckForAnyModel(sent, limits, violations);

  GenerationSpec spec = sent;
  if (spec.model.empty()) spec.model = card.name;
  CheckModelName(spec, card, violations);
  // A number of steps equal to that of timesteps is redundant, not wrong.
  if (!spec.timesteps.empty() && spec.num_steps() == spec.num_inference_steps) {
    spec.num_inference_steps = 0;
  }
  FillExtension(spec);
  FillRefinement(spec, card);
  GenerationSpec known;
  if (const Preset* preset = ChosenPreset(spec, card, violations)) FillFrom(known, preset->values);
  FillFrom(known, card.defaults);
  FillFrom(spec, known);
  if (card.sound.exists() && !spec.sound) spec.sound = true;
  FillServerDefaults(spec, fresh_seed);
  CheckReference(spec, card, violations);
  ResolveAdapters(spec, card, violations);

  CheckAgainstCard(spec, known, card, violations);
  return {std::move(spec), violations.Take()};
}

Resolution ResolveFor(const std::string& tenant, const GenerationSpec& sent, const ModelCard& card,
                      const RequestLimits& limits, uint64_t fresh_seed) {
  if (sent.adapters.empty()) return Resolve(sent, card, limits, fresh_seed);
  ModelCard own = card;
  const auto is_reserved = [&](const AdapterOffer& offer) { return !offer.IsFor(tenant); };
  std::erase_if(own.adapters, is_reserved);
  std::erase_if(own.adapters_of_others, is_reserved);
  return Resolve(sent, own, limits, fresh_seed);
}

std::vector<FieldViolation> CheckWithoutCard(const GenerationSpec& sent,
                                             const RequestLimits& limits) {
  ViolationList violations;
  CheckForAnyModel(sent, limits, violations);
  return violations.Take();
}

}  // namespace reel::model
