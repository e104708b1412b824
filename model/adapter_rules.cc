// SPDX-License-Identifier: Apache-2.0
#include "model/adapter_rules.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/program/nearest_name.h"
#include "model/adapter_part.h"
#include "model/fixed_adapter.h"
#include "model/pass_work.h"
#include "model/utf8.h"

namespace reel::model {
namespace {

// Adapters that a tenant may not use get the same error as unknown ones.
std::string UnknownText(const std::string& name, const ModelCard& card) {
  if (card.adapters.empty()) {
    return absl::StrCat(Quoted(name),
                        " is not known: this model takes no adapters; nearest: leave it out");
  }
  std::vector<std::string> names;
  for (const AdapterOffer& offer : card.adapters) names.push_back(offer.name);
  const std::string nearest = NearestName(name, names);
  return absl::StrCat(Quoted(name), " is no adapter of this model; nearest: ",
                      nearest.empty() ? "see the model's adapters" : nearest);
}

const AdapterOffer* Find(const std::vector<AdapterOffer>& offers, const std::string& name) {
  const auto found = std::ranges::find(offers, name, &AdapterOffer::name);
  return found == offers.end() ? nullptr : &*found;
}

// Refuses an adapter that the model does not offer.
void Refuse(const std::string& field, const std::string& name, const ModelCard& card,
            ViolationList& out) {
  if (Find(card.adapters_of_others, name) == nullptr) {
    return out.Add(field, UnknownText(name, card), "ADAPTER_UNKNOWN");
  }
  out.Add(field,
          absl::StrCat(Quoted(name), " is not for this model",
                       card.adapters.empty() ? ", which takes no adapters; nearest: leave it out"
                                             : "; nearest: one of the model's adapters"),
          "ADAPTER_NOT_FOR_MODEL");
}

std::string UnknownPartText(const std::string& name, const ModelCard& card) {
  const std::vector<AdapterPart> parts = AdapterPartsOf(card.sound.exists());
  const auto append = [](std::string* text, AdapterPart part) { text->append(NameOf(part)); };
  return absl::StrCat(Quoted(name),
                      " is no part of this model; nearest: ", absl::StrJoin(parts, ", ", append));
}

bool HasPart(const ModelCard& card, const std::string& name) {
  const auto part = AdapterPartNamed(name);
  return part && (*part == AdapterPart::kVideo || card.sound.exists());
}

void CheckParts(const std::string& field, const RequestAdapter& adapter, double most,
                const ModelCard& card, ViolationList& out) {
  for (const auto& [name, part] : adapter.part_scales) {
    if (!HasPart(card, name)) {
      out.Add(field + ".part_scales", UnknownPartText(name, card));
      return;  // one is enough: a caller may have sent many
    }
    out.InRange(absl::StrCat(field, ".part_scales[", name, "]"), part, -most, most);
  }
}

struct ScaleBounds {
  double most = 0;     // of the scale times those of any part and pass, of either sign
  int64_t passes = 1;  // of the preset
};

void CheckScales(const std::string& field, const RequestAdapter& adapter, ScaleBounds bounds,
                 const ModelCard& card, ViolationList& out) {
  const size_t first = out.size();
  const auto passes = static_cast<int64_t>(adapter.pass_scales.size());
  if (passes > bounds.passes) {
    out.Add(field + ".pass_scales", absl::StrCat("are ", passes, ", above the passes of the preset",
                                                 "; nearest: ", bounds.passes));
  } else if (out.InRange(field + ".scale", *adapter.scale, -bounds.most, bounds.most)) {
    const double most = bounds.most / std::abs(*adapter.scale);
    CheckParts(field, adapter, most, card, out);
    double of_parts = 1;
    for (const auto& [name, part] : adapter.part_scales) {
      if (std::abs(part) <= most) of_parts = std::max(of_parts, std::abs(part));
    }
    for (size_t i = 0; i < adapter.pass_scales.size(); ++i) {
      out.InRange(absl::StrCat(field, ".pass_scales[", i, "]"), adapter.pass_scales[i],
                  -most / of_parts, most / of_parts);
    }
  }
  out.Explain(first, "ADAPTER_SCALE");
}

// Removes scales that change nothing.
void Shorten(RequestAdapter& adapter) {
  std::erase_if(adapter.part_scales, [](const auto& part) { return part.second == 1; });
  std::vector<double>& passes = adapter.pass_scales;
  while (passes.size() > 1 && passes.back() == passes[passes.size() - 2]) passes.pop_back();
  if (passes == std::vector<double>{1}) passes.clear();
}

bool AddsNothing(const RequestAdapter& adapter) {
  return adapter.scale == 0 || adapter.pass_scales == std::vector<double>{0};
}

// Looks one up and fills it; returns how many columns it takes.
int64_t Fill(const std::string& field, const ModelCard& card, int64_t passes,
             RequestAdapter& adapter, ViolationList& out) {
  const AdapterOffer* const offer = Find(card.adapters, adapter.name);
  if (offer == nullptr) {
    Refuse(field + ".name", adapter.name, card, out);
    return 0;
  }
  if (!adapter.scale) adapter.scale = offer->default_scale;
  CheckScales(field, adapter, {offer->max_scale, passes}, card, out);
  Shorten(adapter);
  if (!adapter.sha256.empty() && adapter.sha256 != offer->sha256) {
    out.Add(field + ".sha256",
            absl::StrCat("is not that of the adapter; nearest: leave it out, or ", offer->sha256),
            "ADAPTER_CHANGED");
  }
  adapter.sha256 = offer->sha256;
  return AddsNothing(adapter) ? 0 : AdapterColumnsOf(offer->rank);
}

}  // namespace

bool HasPartsOf(const AdapterOffer& offer, const ModelCard& card) {
  return std::ranges::all_of(offer.parts,
                             [&card](const std::string& part) { return HasPart(card, part); });
}

void ResolveAdapters(GenerationSpec& spec, const ModelCard& card, ViolationList& out) {
  const auto count = static_cast<int64_t>(spec.adapters.size());
  if (!out.InRange("adapters", count, int64_t{0}, int64_t{kMostRequestAdapters})) return;
  std::set<std::string> names;
  int64_t columns = 0;
  for (size_t i = 0; i < spec.adapters.size(); ++i) {
    RequestAdapter& adapter = spec.adapters[i];
    const std::string field = absl::StrCat("adapters[", i, "]");
    if (!names.insert(adapter.name).second) {
      out.Add(field + ".name",
              absl::StrCat(Quoted(adapter.name), " is there twice; nearest: once, with one scale"),
              "ADAPTER_TWICE");
    }
    const int64_t passes = NumPasses(spec.preset, card);
    if (adapter.path.empty()) {
      columns += Fill(field, card, passes, adapter, out);
    } else {
      if (!adapter.scale) adapter.scale = 1;
      CheckScales(field, adapter, {kMostAdapterScale, passes}, card, out);
      Shorten(adapter);
    }
  }
  if (columns > card.adapter_ranks) {
    out.Add("adapters",
            absl::StrCat("they need ranks of ", columns, " together, in steps of ", kAdapterSlot,
                         ", above ", card.adapter_ranks,
                         "; nearest: fewer, or ask for one as a fixed adapter of the model"),
            "ADAPTER_RANKS");
  }
  std::erase_if(spec.adapters, AddsNothing);
  std::sort(spec.adapters.begin(), spec.adapters.end(),
            [](const RequestAdapter& a, const RequestAdapter& b) { return a.name < b.name; });
}

}  // namespace reel::model
