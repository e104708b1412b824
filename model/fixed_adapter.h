// SPDX-License-Identifier: Apache-2.0
// An adapter that is added to a model's weights when the model is loaded, and stays in them.
#pragma once

#include <string>

namespace reel::model {

inline constexpr int kMostFixedAdapters = 8;
inline constexpr double kMostAdapterScale = 4;  // of either sign

struct FixedAdapter {
  std::string name = {};  // of a configuration; else that of the file
  std::string path = {};  // empty in a model's card
  double scale = 1;       // times the file's own
  // The file's SHA-256, in lower-case hex. A load refuses a file with another; empty: takes any.
  std::string sha256 = {};
  // In a card: layers that it has and leaves as they are, since their `up` is zero.
  int idle_layers = 0;

  friend bool operator==(const FixedAdapter&, const FixedAdapter&) = default;
};

}  // namespace reel::model
