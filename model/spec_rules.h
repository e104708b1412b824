// SPDX-License-Identifier: Apache-2.0
// The second half of Resolve: the rules that a filled spec must obey.
#pragma once

#include "model/generation_spec.h"
#include "model/model_card.h"
#include "model/resolve.h"
#include "model/violation_list.h"

namespace reel::model {

// Rules of size, schedule, guidance and conditions that the card sets. `known` holds every value
// that the card and the preset set: an optional field that is unset there is one that the model
// does not use.
void CheckAgainstCard(const GenerationSpec& spec, const GenerationSpec& known,
                      const ModelCard& card, ViolationList& out);

// Rules that hold for every model.
void CheckForAnyModel(const GenerationSpec& spec, const RequestLimits& limits, ViolationList& out);

}  // namespace reel::model
