// SPDX-License-Identifier: Apache-2.0
// The boxes of an MP4 file that say how it was made. Players skip them.
#pragma once

#include <string>

namespace reel::worker {

// Texts as model/origin makes them; empty: the file has no such box.
struct FileOrigin {
  std::string mark;    // an XMP packet
  std::string origin;  // JSON
};

// Boxes of the type uuid, for the place behind the head. XMP has the UUID that its standard names,
// the origin Reel's own: 1e8cf22d-f5c5-4eba-97d1-8938595855cd.
std::string OriginBoxes(const FileOrigin& origin);

}  // namespace reel::worker
