// SPDX-License-Identifier: Apache-2.0
// Values of stored codes, exactly as the layouts of weight files define them.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "model/weights/stored_tensor.h"

namespace reel::model {

// Whether the tensor holds codes that Widen gives values: 8-bit floats, integers with a scale, or
// GGUF's blocks.
bool HasCodes(const StoredTensor& tensor);

// Writes the values of the elements from `first` on, as many as `out` has; of blocks whole ones. Of
// codes with a scale beside them they are those of bf16, rounded once from the fp32 product; those
// of blocks are fp32. Any threads may widen parts of one tensor.
void Widen(const StoredTensor& tensor, int64_t first, absl::Span<float> out);

bool AllFinite(absl::Span<const float> values);

}  // namespace reel::model
