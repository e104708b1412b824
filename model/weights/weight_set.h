// SPDX-License-Identifier: Apache-2.0
// The tensors of one component by name, in one file, in shards with an index, or in part of a
// single-file checkpoint under other names.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/weights/scaled_layouts.h"
#include "model/weights/stored_tensor.h"

namespace reel::model {

// Immutable; may be read from any thread.
class WeightSet {
 public:
  static absl::StatusOr<WeightSet> OpenFile(const std::string& path);
  // Opens `folder`/`stem`.safetensors.index.json with its shards if there is one, else
  // `folder`/`stem`.safetensors. With a seed neither is read: the set has every tensor that is
  // requested, with random values from the seed and its name.
  static absl::StatusOr<WeightSet> OpenFolder(const std::string& folder, const std::string& stem,
                                              std::optional<uint64_t> random_seed = {});
  // The tensors for which `rename` returns a name, under that name. FAILED_PRECONDITION if two get
  // the same.
  absl::StatusOr<WeightSet> Renamed(
      const std::function<std::optional<std::string>(const std::string&)>& rename) const;
  // The tensors of both, with what else this one has. FAILED_PRECONDITION if both have one.
  absl::StatusOr<WeightSet> With(const WeightSet& more) const;
  // This one with products of adapters added to weights, by the weights' names, which it has.
  WeightSet WithAdded(const std::map<std::string, std::vector<LowRankProduct>>& products) const;

  // Where it was opened, for messages.
  const std::string& source() const { return source_; }
  // Set for random values, without any StoredTensor.
  std::optional<uint64_t> random_seed() const { return random_seed_; }
  // The name is the component's; null: there is none.
  const StoredTensor* Find(std::string_view name) const;
  const StoredTensors& tensors() const { return tensors_; }
  // What its 8-bit codes were stored as; they have their scales.
  ScaledLayout layout() const { return layout_; }
  // A single file's free text; empty for shards and for an unknown key.
  std::string Metadata(const std::string& key) const;

 private:
  explicit WeightSet(std::string source) : source_(std::move(source)) {}

  std::string source_;
  StoredTensors tensors_;
  ScaledLayout layout_ = ScaledLayout::kNone;
  std::map<std::string, std::string> metadata_;
  std::optional<uint64_t> random_seed_;
};

}  // namespace reel::model
