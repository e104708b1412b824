// SPDX-License-Identifier: Apache-2.0
// The adapters of a request against those that its model offers.
#pragma once

#include "model/generation_spec.h"
#include "model/model_card.h"
#include "model/violation_list.h"

namespace reel::model {

// Fills scales and sums, drops those that add nothing and puts them in order of names. Those with a
// path are of a server that has looked them up, or of a command line: they are not looked up again.
void ResolveAdapters(GenerationSpec& spec, const ModelCard& card, ViolationList& out);

}  // namespace reel::model
