// SPDX-License-Identifier: Apache-2.0
// The names of fields that requests of the OpenAI shape may have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace reel::front {

// What a field may hold. Numbers may be texts, as forms have them, and so may objects, as JSON.
enum class WordKind {
  kText,
  kNumber,
  kWhole,
  kFlag,
  kObject,
  kKernels,
  kPreview,
  kReference,
  kReferenceClip,
  kAdapters
};

struct FacadeWord {
  std::string_view name;
  WordKind kind;
};
absl::Span<const FacadeWord> AllFacadeWords();

// Fields that are read here.
bool IsFacadeWord(std::string_view name);
std::vector<std::string> FacadeWords();

// Fields of other servers and their clients, and the values with which they ask for nothing that
// would not happen anyway.
struct ForeignWord {
  std::string_view name;
  std::string_view harmless;  // "a|b"; "*": any
};
const ForeignWord* FindForeignWord(std::string_view name);
// Of a value as text.
bool AsksForNothing(const ForeignWord& word, std::string_view value);

}  // namespace reel::front
