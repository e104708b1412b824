// SPDX-License-Identifier: Apache-2.0
// The adapters of a request against those that its model offers.
#pragma once

#include "model/generation_spec.h"
#include "model/model_card.h"
#include "model/violation_list.h"

namespace reel::model {

// Fills in scales and hashes, drops adapters that add nothing and sorts the rest by name. Adapters
// with a path come from a server that has looked them up, or from a command line: they are not
// looked up again.
void ResolveAdapters(GenerationSpec& spec, const ModelCard& card, ViolationList& out);

// True if the model has every part that the adapter changes. LTX-Video has kVideo alone.
bool HasPartsOf(const AdapterOffer& offer, const ModelCard& card);

}  // namespace reel::model
