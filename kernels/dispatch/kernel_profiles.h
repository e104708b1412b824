// SPDX-License-Identifier: Apache-2.0
// The named sets of variants that requests may ask for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "kernels/dispatch/kernel_listing.h"

namespace reel::kernels {

// Linear layers of transformer blocks in 8 bits, e4m3 or the more accurate int8, with a scale for
// each row. Models check for it (model/bridge); everything else is as in "auto".
inline constexpr std::string_view kFp8Profile = "fp8";
inline constexpr std::string_view kInt8Profile = "int8";

// Attention in 8 bits for many keys, and layers as in "auto"; and both, with layers in e4m3 or
// int8.
inline constexpr std::string_view kFp8AttentionProfile = "fp8_attention";
inline constexpr std::string_view kFp8AllProfile = "fp8_all";
inline constexpr std::string_view kInt8AllProfile = "int8_all";

// As fp8_all; and later passes of a video attend to a share of their keys, and to means of others.
inline constexpr std::string_view kRoutedProfile = "routed";

// A step in which the transformer's first block changes little skips the other blocks. Models check
// for it (model/bridge); what runs is as in "auto".
inline constexpr std::string_view kCacheProfile = "cache";

// "auto", "reference", "batch_invariant", "int8", "int8_all", "fp8", "fp8_attention", "fp8_all",
// "routed", "cache".
const std::vector<std::string>& BuiltInProfiles();

// Whether a profile trades accuracy for speed. "auto" never does: a lossy profile must be named.
bool IsLossyProfile(std::string_view profile);
// What models check for.
bool HasE4m3Layers(std::string_view profile);
bool HasInt8Layers(std::string_view profile);
bool HasE4m3Attention(std::string_view profile);
bool HasInt8Attention(std::string_view profile);
bool HasRoutedAttention(std::string_view profile);
// Whether only lossy profiles select a variant.
bool IsLossyVariant(std::string_view op, std::string_view variant);

// Whether a process with these operators can run the profile. FAILED_PRECONDITION names the missing
// variant, and why.
absl::Status CheckProfileRuns(const std::vector<OpListing>& ops, std::string_view profile);

}  // namespace reel::kernels
