// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/keep_choice.h"

namespace reel::front {

void ChooseKeep(StateOptions::Keep keep, model::GenerationSpec& spec,
                std::vector<model::FieldViolation>& out) {
  if (keep == StateOptions::Keep::kNever) {
    if (spec.keep_state.value_or(false)) {
      out.push_back({"spec.keep_state",
                     "this server keeps no states (its state.keep is never, or its fleet has no "
                     "object store): leave it out"});
    }
    spec.keep_state = false;
    return;
  }
  const bool usual = keep == StateOptions::Keep::kAlways || spec.stop_after_pass.has_value();
  spec.keep_state = spec.keep_state.value_or(usual);
}

}  // namespace reel::front
