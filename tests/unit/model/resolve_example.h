// SPDX-License-Identifier: Apache-2.0
// Requests against the example's card, and what they break.
#pragma once

#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <vector>

#include "model/resolve.h"
#include "tests/unit/model/example_card.h"

namespace reel::model {

inline void PrintTo(const FieldViolation& violation, std::ostream* out) {
  *out << violation.field << ": " << violation.description;
}

inline auto Violation(const std::string& field, const std::string& text) {
  return ::testing::AllOf(
      ::testing::Field(&FieldViolation::field, field),
      ::testing::Field(&FieldViolation::description, ::testing::HasSubstr(text)));
}

inline Resolution ResolveExample(const GenerationSpec& sent,
                                 const ModelCard& card = ExampleCard()) {
  return Resolve(sent, card, RequestLimits(), 7);
}

inline std::vector<FieldViolation> ViolationsOf(const GenerationSpec& sent) {
  return ResolveExample(sent).violations;
}

template <typename Change>
std::vector<FieldViolation> With(Change change) {
  GenerationSpec spec;
  spec.prompt = "a fox";
  change(spec);
  return ViolationsOf(spec);
}

}  // namespace reel::model
