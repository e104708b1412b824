// SPDX-License-Identifier: Apache-2.0
// A file of an adapter (LoRA): for some layers a product of two matrices that is added to the
// weight. Torch-free; hostile files are expected, and this reader is fuzzed (tests/fuzz).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/adapters/adapter_pairs.h"
#include "model/adapters/linear_table.h"
#include "model/request_adapter.h"
#include "model/weights/stored_tensor.h"

namespace reel::model {

// A pair and the layer that it is for.
struct AdaptedLayer {
  LinearLayer layer;
  LowRankProduct product;
};

// Immutable; may be read from any thread.
class AdapterFile {
 public:
  // Reads the header, each alpha, the settings (of the metadata, or of the adapter_config.json
  // beside an adapter_model.safetensors) and what it wants of a reference clip. NOT_FOUND, or
  // FAILED_PRECONDITION with the file, a key and the rule.
  static absl::StatusOr<AdapterFile> Open(const std::string& path);

  const WeightFile& file() const { return *file_; }
  const std::vector<AdapterPair>& pairs() const { return pairs_; }
  int64_t rank() const;  // the greatest
  // Nullopt: it wants no reference clip.
  const std::optional<ReferenceScale>& reference() const { return reference_; }

  // The layers of a model that the pairs are for. FAILED_PRECONDITION: the model lacks one, or has
  // it with other sides, or two pairs are for the same.
  absl::StatusOr<std::vector<AdaptedLayer>> LayersIn(const LinearTable& model) const;

  // Reads all values, and returns the number of pairs that change nothing because their `up` is
  // zero. FAILED_PRECONDITION: a value is not a finite number.
  absl::StatusOr<int64_t> CheckValues() const;

 private:
  explicit AdapterFile(std::shared_ptr<const WeightFile> file) : file_(std::move(file)) {}

  std::shared_ptr<const WeightFile> file_;
  std::vector<AdapterPair> pairs_;
  std::optional<ReferenceScale> reference_;
};

}  // namespace reel::model
