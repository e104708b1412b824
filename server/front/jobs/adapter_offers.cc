// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/adapter_offers.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kernels/dispatch/kernel_catalog.h"
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

std::vector<absl::StatusOr<kernels::KernelPlan>> KernelsElsewhere::Plans(
    const Need& need, const model::ModelCard* card) const {
  std::vector<absl::StatusOr<kernels::KernelPlan>> plans;
  const auto lists = lists_.find(need.model);
  if (lists == lists_.end() || !need.worker.empty()) return plans;
  const auto calls = card == nullptr ? std::vector<kernels::KernelCall>() : card->calls;
  for (const auto& list : lists->second) {
    plans.push_back(kernels::MakePlan(list, need.profile, need.variants, calls));
  }
  return plans;
}

}  // namespace reel::front
