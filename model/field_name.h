// SPDX-License-Identifier: Apache-2.0
// The name of a field as a type of its own, so that a visitor of fields can keep what it has found
// under a name. "width"_field is one; it is read as text where text is wanted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace reel::model {

template <size_t kSize>
struct FieldText {
  // Not explicit: a literal becomes one where a template wants it.
  consteval FieldText(const char (&literal)[kSize]) { std::copy_n(literal, kSize, text); }

  char text[kSize];
};

template <FieldText kText>
struct FieldName {
  constexpr operator const char*() const { return kText.text; }
  constexpr operator std::string_view() const { return kText.text; }
};

template <FieldText kText>
consteval FieldName<kText> operator""_field() {
  return {};
}

}  // namespace reel::model
