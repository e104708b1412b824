// SPDX-License-Identifier: Apache-2.0
// The adapters that requests may name, in the cards of the models that they are for.
#pragma once

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "model/model_card.h"
#include "server/front/scheduling/job_options.h"

namespace reel::front {

// A value.
class AdapterOffers {
 public:
  explicit AdapterOffers(std::vector<RegisteredAdapter> registered)
      : registered_(std::move(registered)) {}

  // Those that are for the model, if it has room for any, in place of what the card has.
  void PutInto(model::ModelCard& card) const;

 private:
  std::vector<RegisteredAdapter> registered_;
};

// Where this server has the adapters of a resolved spec. `card` is that of its model; null: it is
// not known. MODEL_REPLACED: one is gone, or another file now.
absl::Status FindAdapters(const model::ModelCard* card, model::GenerationSpec& spec);

}  // namespace reel::front
