// SPDX-License-Identifier: Apache-2.0
#include "server/worker/link/media_pieces.h"

#include <cstdint>
#include <utility>

namespace reel::worker {

std::vector<JobMedia> CutMedia(JobMedia media) {
  std::vector<JobMedia> pieces;
  size_t cut = 0;
  for (; media.bytes.size() - cut > kMediaPieceBytes; cut += kMediaPieceBytes) {
    pieces.push_back({media.offset + static_cast<int64_t>(cut),
                      media.bytes.substr(cut, kMediaPieceBytes), false});
  }
  if (cut > 0) media.bytes.erase(0, cut);
  media.offset += static_cast<int64_t>(cut);
  pieces.push_back(std::move(media));
  return pieces;
}

}  // namespace reel::worker
