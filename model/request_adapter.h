// SPDX-License-Identifier: Apache-2.0
// Adapters of requests: each is added beside the weights for its request alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace reel::model {

inline constexpr int kMostRequestAdapters = 8;
// Columns that a model may have for the adapters of the requests of one step.
inline constexpr int kMostAdapterRanks = 256;
// Columns are given to adapters in slots of so many, so that products have few sizes.
inline constexpr int64_t kAdapterSlot = 32;

// How many columns an adapter of this rank takes.
constexpr int64_t AdapterColumnsOf(int64_t rank) {
  return (rank + kAdapterSlot - 1) / kAdapterSlot * kAdapterSlot;
}

// How a reference clip compares with its video, as the adapter (IC-LoRA) learnt that wants it.
struct ReferenceScale {
  int sides = 1;   // of the video, over those of the clip
  int frames = 1;  // behind the first, one of so many is in the clip

  friend bool operator==(const ReferenceScale&, const ReferenceScale&) = default;
};
inline constexpr int kMostReferenceScale = 8;  // of either

struct RequestAdapter {
  std::string name;             // as it is registered
  std::optional<double> scale;  // of what it adds, times the file's own; unset: the offer's, else 1
  std::string sha256 = {};      // of its file, in lower-case hex; a file with another is refused
  // Set where videos are made, never by a request.
  std::string path = {};
  std::optional<ReferenceScale> reference = {};  // nullopt: it wants no reference clip
  // Times `scale`: of parts of the model (adapter_part.h), those that are not named 1; and of each
  // pass of the preset, of which the last goes on.
  std::map<std::string, double> part_scales = {};
  std::vector<double> pass_scales = {};

  friend bool operator==(const RequestAdapter&, const RequestAdapter&) = default;
};

// An adapter that requests for a model may name.
struct AdapterOffer {
  std::string name;
  std::string sha256;
  std::string path = {};                         // where this server has it; not told
  int64_t rank = 0;                              // the greatest of its layers
  int64_t bytes = 0;                             // of its file
  double max_scale = 4;                          // of either sign
  std::vector<std::string> tenants = {};         // that may use it; empty: all
  std::optional<ReferenceScale> reference = {};  // nullopt: it wants no reference clip
  double default_scale = 1;                      // of requests that name none
  std::vector<std::string> parts = {};           // that it changes (adapter_part.h)
  std::string description = {};                  // for people

  bool IsFor(const std::string& tenant) const {
    return tenants.empty() || std::find(tenants.begin(), tenants.end(), tenant) != tenants.end();
  }
  friend bool operator==(const AdapterOffer&, const AdapterOffer&) = default;
};

}  // namespace reel::model
