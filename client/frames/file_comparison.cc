// SPDX-License-Identifier: Apache-2.0
#include "client/frames/file_comparison.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/frames/contact_sheet.h"
#include "client/frames/frame_reader.h"
#include "kernels/base/status_macros.h"

namespace reel::client {
namespace {

// A window of one file in memory. A longer file is decoded again for each further window, which
// costs less than comparing its frames.
constexpr int kFramesAtATime = 32;

absl::Status Compare(const FrameReader& a, const FrameReader& b, FileComparison& out) {
  const std::vector<int> shown = ContactSheet::FramesFor(a.frames());
  ContactSheet sheet;
  for (int begin = 0; begin < a.frames(); begin += kFramesAtATime) {
    const int end = std::min(begin + kFramesAtATime, a.frames());
    std::vector<model::RgbImage> window;
    REEL_RETURN_IF_ERROR(a.Read([&](int index, model::RgbImage image) {
      if (index >= begin) window.push_back(std::move(image));
      return index + 1 < end;
    }));
    REEL_RETURN_IF_ERROR(b.Read([&](int index, model::RgbImage image) {
      if (index >= begin) {
        const model::RgbImage& other = window[static_cast<size_t>(index - begin)];
        out.distance.Add(other, image);
        if (std::count(shown.begin(), shown.end(), index) > 0) sheet.Add(other, image);
      }
      return index + 1 < end;
    }));
  }
  out.sheet = sheet.Picture();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FileComparison> CompareFiles(const std::string& path_a, const std::string& path_b) {
  REEL_ASSIGN_OR_RETURN(const FrameReader a, FrameReader::Open(path_a));
  REEL_ASSIGN_OR_RETURN(const FrameReader b, FrameReader::Open(path_b));
  if (a.frames() != b.frames()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the videos have ", a.frames(), " and ", b.frames(), " frames"));
  }
  if (a.width() != b.width() || a.height() != b.height()) {
    return absl::InvalidArgumentError(absl::StrCat("the videos are of ", a.width(), "x", a.height(),
                                                   " and ", b.width(), "x", b.height(), " pixels"));
  }
  FileComparison comparison;
  REEL_RETURN_IF_ERROR(Compare(a, b, comparison));
  return comparison;
}

}  // namespace reel::client
