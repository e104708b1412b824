// SPDX-License-Identifier: Apache-2.0
// A tensor as it lies in a weight file, with what makes values of its bytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "model/weights/weight_file.h"

namespace reel::model {

// A product of two matrices that an adapter adds to a weight: scale * up * down.
struct LowRankProduct {
  std::shared_ptr<const WeightFile> file;
  // Of `file`: [rank, in] and [out, rank], in F32, F16 or BF16. Sides of 1 may follow.
  const TensorEntry* down = nullptr;
  const TensorEntry* up = nullptr;
  double scale = 1;

  int64_t rank() const { return down->shape[0]; }
};

struct StoredTensor {
  // Shared, because components of one checkpoint are loaded and dropped one by one.
  std::shared_ptr<const WeightFile> file;
  const TensorEntry* entry = nullptr;  // of `file`
  // Of 8-bit codes: the factor of all values, or one for each of the first dimension's rows. Empty:
  // the codes are the values.
  std::vector<float> scales = {};
  float divisor = 1;                     // of all values, after the scales
  std::optional<TensorType> codes = {};  // where the file calls the codes U8
  // Whoever reads the values adds these, in this order.
  std::vector<LowRankProduct> added = {};

  TensorType type() const { return codes.value_or(entry->type); }
  absl::Span<const std::byte> bytes() const { return file->Bytes(*entry); }
};

using StoredTensors = std::map<std::string, StoredTensor, std::less<>>;

}  // namespace reel::model
