// SPDX-License-Identifier: Apache-2.0
// The named sets of variants that requests may ask for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "kernels/dispatch/kernel_listing.h"

namespace reel::kernels {

// Linear layers of transformer blocks in 8 bits: e4m3 rows with a scale each, or int8 rows, which
// are nearer. Models look for it (model/bridge); everything else is as in "auto".
inline constexpr std::string_view kFp8Profile = "fp8";
inline constexpr std::string_view kInt8Profile = "int8";

// Attention in 8 bits where it has many keys, and layers as in "auto"; and both, layers in e4m3 or
// int8.
inline constexpr std::string_view kFp8AttentionProfile = "fp8_attention";
inline constexpr std::string_view kFp8AllProfile = "fp8_all";
inline constexpr std::string_view kInt8AllProfile = "int8_all";

// Steps that the first block of a transformer changes little leave its other blocks out. Models
// look for it (model/bridge); what runs is as in "auto".
inline constexpr std::string_view kCacheProfile = "cache";

// "auto", "reference", "batch_invariant", "int8", "int8_all", "fp8", "fp8_attention", "fp8_all",
// "cache".
const std::vector<std::string>& BuiltInProfiles();

// Whether a profile gives up accuracy for speed. "auto" never does: a lossy one must be asked for.
bool IsLossyProfile(std::string_view profile);
// What models look for.
bool HasE4m3Layers(std::string_view profile);
bool HasInt8Layers(std::string_view profile);
bool HasE4m3Attention(std::string_view profile);
bool HasInt8Attention(std::string_view profile);
// Whether a variant is one that lossy profiles alone bring.
bool IsLossyVariant(std::string_view op, std::string_view variant);

// Whether a process with these operators can run the profile. FAILED_PRECONDITION says which
// variant is missing, and why.
absl::Status CheckProfileRuns(const std::vector<OpListing>& ops, std::string_view profile);

}  // namespace reel::kernels
