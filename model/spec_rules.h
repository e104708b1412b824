// SPDX-License-Identifier: Apache-2.0
// The second half of Resolve: the rules that a filled spec must obey.
#pragma once

#include "model/generation_spec.h"
#include "model/model_card.h"
#include "model/resolve.h"
#include "model/violation_list.h"

namespace reel::model {

// Rules of the card for size, schedule, guidance and conditions. `known` holds every value that the
// card and the preset set: the model does not use an optional field that is unset there.
void CheckAgainstCard(const GenerationSpec& spec, const GenerationSpec& known,
                      const ModelCard& card, ViolationList& out);

// Rules that hold for every model.
void CheckForAnyModel(const GenerationSpec& spec, const RequestLimits& limits, ViolationList& out);

}  // namespace reel::model
