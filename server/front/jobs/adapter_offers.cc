// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/adapter_offers.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"

namespace reel::front {

void AdapterOffers::PutInto(model::ModelCard& card) const {
  card.adapters.clear();
  if (card.adapter_ranks == 0) return;
  for (const RegisteredAdapter& adapter : registered_) {
    const auto& models = adapter.models;
    if (models.empty() || std::find(models.begin(), models.end(), card.name) != models.end()) {
      card.adapters.push_back(adapter.offer);
    }
  }
}

absl::Status FindAdapters(const model::ModelCard* card, model::GenerationSpec& spec) {
  const std::vector<model::AdapterOffer> none;
  for (model::RequestAdapter& wanted : spec.adapters) {
    for (const model::AdapterOffer& offer : card == nullptr ? none : card->adapters) {
      if (offer.name == wanted.name && offer.sha256 == wanted.sha256) wanted.path = offer.path;
    }
    if (!wanted.path.empty()) continue;
    return MakeError(Reason::kModelReplaced,
                     absl::StrCat("An adapter was replaced or taken away while the video waited: ",
                                  wanted.name));
  }
  return absl::OkStatus();
}

}  // namespace reel::front
