// SPDX-License-Identifier: Apache-2.0
#include "client/frames/file_comparison.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "client/frames/contact_sheet.h"
#include "kernels/base/status_macros.h"
#include "server/worker/media/clip_decoder.h"

namespace reel::client {
namespace {

constexpr int64_t kMostPixels = int64_t{8192} * 8192;
// A window of one file in memory. A longer file is decoded again for each further window, which
// costs less than comparing its frames.
constexpr int kFramesAtATime = 32;

class VideoFileReader {
 public:
  static absl::StatusOr<VideoFileReader> Open(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return absl::InvalidArgumentError(absl::StrCat("cannot read ", path));
    VideoFileReader reader;
    reader.path_ = path;
    reader.bytes_.assign(std::istreambuf_iterator<char>(file), {});
    REEL_RETURN_IF_ERROR(reader.Read([&](int, model::RgbImage image) {
      ++reader.frames_;
      reader.width_ = image.width;
      reader.height_ = image.height;
      return true;
    }));
    return reader;
  }

  // Reads until `take` returns false.
  absl::Status Read(absl::FunctionRef<bool(int, model::RgbImage)> take) const {
    int index = 0;
    const absl::Status decoded = worker::DecodeClip(
        bytes_, kMostPixels, [] { return absl::OkStatus(); },
        [&](model::RgbImage image) { return take(index++, std::move(image)); });
    if (decoded.ok()) return decoded;
    return absl::InvalidArgumentError(absl::StrCat(path_, " ", decoded.message()));
  }

  int frames() const { return frames_; }
  int width() const { return width_; }
  int height() const { return height_; }

 private:
  std::string path_, bytes_;
  int frames_ = 0, width_ = 0, height_ = 0;
};

absl::Status Compare(const VideoFileReader& a, const VideoFileReader& b, FileComparison& out) {
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
  REEL_ASSIGN_OR_RETURN(const VideoFileReader a, VideoFileReader::Open(path_a));
  REEL_ASSIGN_OR_RETURN(const VideoFileReader b, VideoFileReader::Open(path_b));
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
