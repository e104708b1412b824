// SPDX-License-Identifier: Apache-2.0
#include "model/adapter_rules.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/program/nearest_name.h"
#include "model/fixed_adapter.h"
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

const AdapterOffer* Find(const ModelCard& card, const std::string& name) {
  const auto found = std::find_if(card.adapters.begin(), card.adapters.end(),
                                  [&](const AdapterOffer& offer) { return offer.name == name; });
  return found == card.adapters.end() ? nullptr : &*found;
}

// Looks one up and fills it; returns how many columns it takes.
int64_t Fill(const std::string& field, const ModelCard& card, RequestAdapter& adapter,
             ViolationList& out) {
  const AdapterOffer* const offer = Find(card, adapter.name);
  if (offer == nullptr) {
    out.Add(field + ".name", UnknownText(adapter.name, card));
    return 0;
  }
  if (!adapter.scale) adapter.scale = 1;
  out.InRange(field + ".scale", *adapter.scale, -offer->max_scale, offer->max_scale);
  if (!adapter.sha256.empty() && adapter.sha256 != offer->sha256) {
    out.Add(field + ".sha256",
            absl::StrCat("is not that of the adapter; nearest: leave it out, or ", offer->sha256));
  }
  adapter.sha256 = offer->sha256;
  return adapter.scale == 0 ? 0 : AdapterColumnsOf(offer->rank);
}

}  // namespace

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
              absl::StrCat(Quoted(adapter.name), " is there twice; nearest: once, with one scale"));
    }
    if (!adapter.path.empty()) {
      out.InRange(field + ".scale", adapter.scale.value_or(1), -kMostAdapterScale,
                  kMostAdapterScale);
      continue;
    }
    columns += Fill(field, card, adapter, out);
  }
  if (columns > card.adapter_ranks) {
    out.Add("adapters",
            absl::StrCat("they need ranks of ", columns, " together, in steps of ", kAdapterSlot,
                         ", above ", card.adapter_ranks,
                         "; nearest: fewer, or ask for one as a fixed adapter of the model"));
  }
  std::erase_if(spec.adapters, [](const RequestAdapter& adapter) { return adapter.scale == 0; });
  std::sort(spec.adapters.begin(), spec.adapters.end(),
            [](const RequestAdapter& a, const RequestAdapter& b) { return a.name < b.name; });
}

}  // namespace reel::model
