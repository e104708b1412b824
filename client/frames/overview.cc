// SPDX-License-Identifier: Apache-2.0
#include "client/frames/overview.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/frames/contact_sheet.h"
#include "client/frames/frame_reader.h"
#include "kernels/base/status_macros.h"

namespace reel::client {

absl::StatusOr<model::RgbImage> DrawOverview(const std::vector<std::string>& paths) {
  std::vector<std::vector<model::RgbImage>> rows;
  for (const std::string& path : paths) {
    REEL_ASSIGN_OR_RETURN(const FrameReader video, FrameReader::Open(path));
    if (video.frames() == 0) {
      return absl::InvalidArgumentError(absl::StrCat(path, " has no frames"));
    }
    const std::vector<int> shown = ContactSheet::FramesFor(video.frames());
    std::vector<model::RgbImage>& row = rows.emplace_back();
    REEL_RETURN_IF_ERROR(video.Read([&](int index, const model::RgbImage& image) {
      if (std::count(shown.begin(), shown.end(), index) > 0) {
        row.push_back(ContactSheet::Tile(image));
      }
      return index < shown.back();
    }));
  }
  return DrawRows(rows);
}

}  // namespace reel::client
