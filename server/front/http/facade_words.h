// SPDX-License-Identifier: Apache-2.0
// The names of fields that requests of the OpenAI shape may have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reel::front {

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
