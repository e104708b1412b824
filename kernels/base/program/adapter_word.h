// SPDX-License-Identifier: Apache-2.0
// Reads an adapter (LoRA) and its scales as people write them in flags.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace reel {

struct AdapterWord {
  std::string name;  // or a file
  std::optional<double> scale = {};
  std::map<std::string, double> part_scales = {};
  std::vector<double> pass_scales = {};
};

inline constexpr char kAdapterScales[] = "[:SCALE][,PART=SCALE]...[,pass=SCALE/SCALE]";

// Parses "NAME" and what kAdapterScales says. What is none of that is part of the name.
AdapterWord ParseAdapterWord(const std::string& text);

}  // namespace reel
