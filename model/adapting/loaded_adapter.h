// SPDX-License-Identifier: Apache-2.0
// An adapter on a model's device, ready to be copied behind its layers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/adapter_part.h"
#include "model/adapters/adapter_file.h"
#include "model/layers/adapter_room.h"

namespace reel::model {

// Immutable.
struct LoadedAdapter {
  // As wide as all its columns, with zeros behind the layer's rank.
  struct Layer {
    size_t index = 0;  // in the room
    AdapterPart part = AdapterPart::kVideo;
    at::Tensor down;  // [slots, kAdapterSlot, in]
    at::Tensor up;    // [out, slots, kAdapterSlot], times the file's own scale
  };

  std::string sha256;
  int64_t columns = 0;
  std::vector<Layer> layers;  // in order of `index`
  int64_t bytes = 0;
};

// Reads the values of a file's layers, each rounded once to the room's type. DATA_LOSS: one is not
// finite there.
absl::StatusOr<std::shared_ptr<const LoadedAdapter>> LoadAdapter(
    const std::vector<AdaptedLayer>& layers, const std::string& sha256, const AdapterRoom& room);

// A job's scale for each part of an adapter; 1 leaves the part as it is.
using AdapterPartScales = std::array<double, kAdapterParts.size()>;
inline constexpr AdapterPartScales kAllParts = {1, 1, 1, 1, 1};

// An adapter of a job, and by how much the job takes it.
struct AppliedAdapter {
  std::shared_ptr<const LoadedAdapter> adapter;
  float scale = 1;                       // in the pass that is under way
  std::vector<float> later_scales = {};  // in the passes after it; empty: the same
  AdapterPartScales parts = kAllParts;
};
// In order of names.
using AppliedAdapters = std::vector<AppliedAdapter>;

// Columns that they take together.
int64_t RanksOf(const AppliedAdapters& adapters);
// The same in the next pass.
AppliedAdapters InNextPass(AppliedAdapters adapters);
// True if the next pass applies an adapter at another scale.
bool ChangeInNextPass(const AppliedAdapters& adapters);

}  // namespace reel::model
