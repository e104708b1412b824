// SPDX-License-Identifier: Apache-2.0
// Names of the tensors in adapters' files: which half of which layer's product a tensor is, in
// every spelling that writers of such files use.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace reel::model {

enum class AdapterHalf { kDown, kUp, kAlpha };

struct AdapterKey {
  std::string stem;  // the layer, with the file's prefix
  AdapterHalf half = AdapterHalf::kDown;
  std::string adapter = {};  // the name that raw states of PEFT have in each key; empty: none
};

// FAILED_PRECONDITION is the broken rule alone: the key is of another kind of adapter, or of none.
absl::StatusOr<AdapterKey> ParseAdapterKey(absl::string_view key);

// A stem in its parts. `prefix` is the same for all stems of a file.
struct AdapterStem {
  std::string prefix;
  std::string layer;       // behind the prefix
  bool is_flat = false;    // each '.' of the layer's name is a '_'
  bool is_shared = false;  // a layer of LTX-2's connectors, which has no prefix in any file
};

// FAILED_PRECONDITION is the broken rule alone: the stem is one of a text encoder.
absl::StatusOr<AdapterStem> SplitStem(absl::string_view stem);

}  // namespace reel::model
