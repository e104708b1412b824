// SPDX-License-Identifier: Apache-2.0
// libtorch's implementations of operators as variants of a process's catalog. Knows no tensor: a
// process may list what it never calls.
#pragma once

#include <array>
#include <string_view>

#include "kernels/dispatch/kernel_catalog.h"

namespace reel::model {

inline constexpr std::string_view kAtenVariant = "aten";
// For linear only: e4m3 codes with a scale for each row and each output, which only the profile
// "fp8" makes. On a CPU the same formula in fp32.
inline constexpr std::string_view kE4m3RowsVariant = "e4m3_rows", kInt8RowsVariant = "int8_rows";
// For step_cache only: adds what all blocks but the first added in an earlier step. Only the
// profile "cache" makes such a call.
inline constexpr std::string_view kFirstBlockVariant = "first_block";
// For linear_gelu only: the activation inside the matrix product; on a CPU oneDNN's.
inline constexpr std::string_view kEpilogueVariant = "epilogue";

// For conv3d on a CPU: conv_by_taps.h.
inline constexpr std::string_view kTapsVariant = "taps";

// For qk_norm_rope on a CPU: each row in one pass, by all threads.
inline constexpr std::string_view kRowsVariant = "rows";

// For attention and cross_attention: libtorch's kernels. "auto" takes the one that libtorch would;
// "aten" leaves the choice to libtorch.
inline constexpr std::string_view kCudnnVariant = "cudnn";
// cuDNN's over whole tiles of keys, with those behind the last tile left to attention_rest.
inline constexpr std::string_view kCudnnTilesVariant = "cudnn_tiles";
inline constexpr std::string_view kFlashVariant = "flash";
inline constexpr std::string_view kMemEfficientVariant = "mem_efficient";
inline constexpr std::string_view kMathVariant = "math";

// After the built-in variants and before plug-ins. Where libtorch's are better they come first, or
// below the tuned ones.
void AddFrameworkVariants(kernels::KernelCatalog& catalog);

}  // namespace reel::model
