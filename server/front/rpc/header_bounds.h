// SPDX-License-Identifier: Apache-2.0
// Bounds the headers of a call on the wire, which gRPC before 1.53.2 does not (CVE-2023-33953).
#pragma once

#include <cstddef>

namespace reel::front {

// What the server accepts of metadata.
inline constexpr int kMostMetadataBytes = 128 * 1024;
// What the headers of one call may take on the wire, twice of what that needs; beyond it their
// connection is closed.
inline constexpr size_t kMaxHeaderBytes = 256 * 1024;
inline constexpr size_t kMaxHeaderFrames = 16;

// Whether gRPC's parser is bounded in this process. False beside a gRPC whose functions have other
// names: then its headers are as it leaves them.
bool HeadersAreBounded();

}  // namespace reel::front
