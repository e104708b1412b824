// SPDX-License-Identifier: Apache-2.0
// Parses the header of a safetensors file and checks all of it before anything is used. Hostile
// files are expected: this parser is fuzzed (tests/fuzz).
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/weights/weight_header.h"

namespace reel::model {

struct SafetensorsLimits {
  int64_t max_header_bytes = int64_t{16} << 20;
  int64_t max_tensors = 20'000;
  int64_t max_rank = 8;
  int64_t max_name_bytes = 512;
};

// Reads the beginning of `file`, the whole file's bytes. FAILED_PRECONDITION names the broken rule
// and the tensor, if any; the caller adds the file's name.
absl::StatusOr<WeightHeader> ParseSafetensorsHeader(absl::Span<const std::byte> file,
                                                    const SafetensorsLimits& limits = {});

}  // namespace reel::model
