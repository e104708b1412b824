// SPDX-License-Identifier: Apache-2.0
// Looks at the values of an adapter's tensors, which are F32, F16 or BF16.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/types/span.h"
#include "model/weights/tensor_type.h"

namespace reel::model {

bool IsAdapterType(TensorType type);

bool AllFiniteIn(absl::Span<const std::byte> bytes, TensorType type);
// Zeros of both signs count.
bool AllZeroIn(absl::Span<const std::byte> bytes, TensorType type);

// The only value of a tensor, which may also be I64; nullopt: it has none or several, or another
// type.
std::optional<double> OnlyValue(absl::Span<const std::byte> bytes, TensorType type);

}  // namespace reel::model
