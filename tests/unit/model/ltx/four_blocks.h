// SPDX-License-Identifier: Apache-2.0
// The tiny transformer of 0.9.0 with its two blocks twice, one pair behind the other.
#pragma once

#include "model/ltx/transformer.h"
#include "model/weights/weight_set.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx {

struct FourBlocks {
  FourBlocks() : FourBlocks(TinyFolder("0.9.0")) {}
  Transformer Load(at::ScalarType dtype = at::kFloat) const;

  WeightSet stored;
  TransformerConfig config;

 private:
  explicit FourBlocks(const TinyFolder& folder);
};

}  // namespace reel::model::ltx
