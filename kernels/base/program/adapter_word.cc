// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program/adapter_word.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace reel {
namespace {

constexpr char kOfPasses[] = "pass";

bool IsPartName(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char byte) {
    return absl::ascii_islower(byte) || byte == '_';
  });
}

// "PART=SCALE" or "pass=SCALE/SCALE"; false: it is neither.
bool TakeScales(const std::string& text, AdapterWord& word) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || !IsPartName(text.substr(0, equals))) return false;
  const std::string name = text.substr(0, equals), values = text.substr(equals + 1);
  double scale = 0;
  if (name != kOfPasses) {
    return absl::SimpleAtod(values, &scale) && word.part_scales.emplace(name, scale).second;
  }
  std::vector<double> passes;
  for (const absl::string_view pass : absl::StrSplit(values, '/')) {
    if (!absl::SimpleAtod(pass, &scale)) return false;
    passes.push_back(scale);
  }
  if (!word.pass_scales.empty()) return false;
  word.pass_scales = std::move(passes);
  return true;
}

}  // namespace

AdapterWord ParseAdapterWord(const std::string& text) {
  AdapterWord word = {.name = text};
  for (size_t comma = word.name.rfind(','); comma != std::string::npos;
       comma = word.name.rfind(',')) {
    if (!TakeScales(word.name.substr(comma + 1), word)) break;
    word.name.resize(comma);
  }
  double scale = 0;  // SimpleAtod also writes what is no number
  const size_t colon = word.name.rfind(':');
  if (colon != std::string::npos && absl::SimpleAtod(word.name.substr(colon + 1), &scale)) {
    word.scale = scale;
    word.name.resize(colon);
  }
  return word;
}

}  // namespace reel
