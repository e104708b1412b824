// SPDX-License-Identifier: Apache-2.0
// Values of GGUF's blocks of codes, bit for bit as its reference (the package gguf 0.19.0 of
// Python) has them.
#pragma once

#include <cstddef>

#include "absl/types/span.h"
#include "model/weights/tensor_type.h"

namespace reel::model {

// Fills `out`, a whole number of blocks of the type, from `blocks`, which need no alignment.
void WidenBlocks(TensorType type, const std::byte* blocks, absl::Span<float> out);

}  // namespace reel::model
