// SPDX-License-Identifier: Apache-2.0
// Parses the header of a GGUF file, versions 2 and 3, and checks all of it before anything is used.
// Hostile files are expected: this parser is fuzzed (tests/fuzz).
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/weights/weight_header.h"

namespace reel::model {

struct GgufLimits {
  int64_t max_header_bytes = int64_t{64} << 20;
  uint64_t max_pairs = 4096;
  uint64_t max_tensors = 20'000;
  uint64_t max_key_bytes = 512;
  uint64_t max_name_bytes = 256;
  uint64_t max_string_bytes = uint64_t{1} << 20;
  uint64_t max_array_elements = uint64_t{1} << 20;
  int64_t max_elements = int64_t{1} << 40;  // of a tensor
};

// Whether the bytes begin as a GGUF file does.
bool BeginsAsGguf(absl::Span<const std::byte> file);

// Reads the beginning of `file`, the whole file's bytes. Shapes are in torch's order, slowest
// first. Texts, numbers and truths of the metadata come as text; arrays are walked and dropped, but
// for the shapes that ComfyUI's tools note. FAILED_PRECONDITION names the broken rule and the key
// or the tensor, if any; the caller adds the file's name.
absl::StatusOr<WeightHeader> ParseGgufHeader(absl::Span<const std::byte> file,
                                             const GgufLimits& limits = {});

}  // namespace reel::model
