// SPDX-License-Identifier: Apache-2.0
// Fills the defaults of a request and checks it against a model's card: in the front before
// admission, and again in the worker. A different result there would be our bug.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/generation_spec.h"
#include "model/model_card.h"

namespace reel::model {

// Limits that hold for every model.
struct RequestLimits {
  int max_prompt_chars = 2000;
  int max_prompt_bytes = 8192;
  int max_conditions = 4;
  int64_t max_condition_bytes =
      3'670'016;  // 3.5 MiB for all together: a request message is at most 4 MiB
  int64_t max_file_bytes = int64_t{64} << 20;  // likewise of those that were sent ahead
  int64_t max_condition_pixels = 16'000'000;
  int max_preview_side = 512;
  int min_preview_side = 32;
};

// No server's limit of a file is higher.
inline constexpr int64_t kMostFileBytes = int64_t{256} << 20;

// Of what a server has admitted by its own limits.
inline RequestLimits AdmittedLimits() {
  RequestLimits limits;
  limits.max_condition_bytes = limits.max_file_bytes = kMostFileBytes;
  return limits;
}

// A rule that a field breaks. `field` is its API path below the spec, e.g. "width",
// "conditions[1].strength"; `description` names the value, the rule and the nearest legal value. Of
// prompts only the length appears.
struct FieldViolation {
  std::string field;
  std::string description;
  std::string reason = {};  // stable, UPPER_SNAKE_CASE, for programs; empty: there is none
};

struct Resolution {
  GenerationSpec spec;                     // every field filled; valid only without violations
  std::vector<FieldViolation> violations;  // all of them
  bool ok() const { return violations.empty(); }
};

// Explicit fields win over the preset's, and those over the card's defaults. `fresh_seed` is used
// if the request has no seed. Pure, and idempotent: a resolved spec resolves to itself.
Resolution Resolve(const GenerationSpec& sent, const ModelCard& card, const RequestLimits& limits,
                   uint64_t fresh_seed);

// The same of a tenant's request: adapters that are for others alone are unknown.
Resolution ResolveFor(const std::string& tenant, const GenerationSpec& sent, const ModelCard& card,
                      const RequestLimits& limits, uint64_t fresh_seed);

// The rules that need no card: prompts, counts, names in a selection. Resolve applies them too.
std::vector<FieldViolation> CheckWithoutCard(const GenerationSpec& sent,
                                             const RequestLimits& limits);

}  // namespace reel::model
