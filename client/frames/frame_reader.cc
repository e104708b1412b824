// SPDX-License-Identifier: Apache-2.0
#include "client/frames/frame_reader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/program/whole_file.h"
#include "kernels/base/status_macros.h"
#include "server/worker/media/clip_decoder.h"

namespace reel::client {
namespace {

constexpr int64_t kMostPixels = int64_t{8192} * 8192;

}  // namespace

absl::StatusOr<FrameReader> FrameReader::Open(const std::string& path) {
  std::optional<std::string> bytes = ReadWholeFile(path);
  if (!bytes.has_value()) return absl::InvalidArgumentError(absl::StrCat("cannot read ", path));
  FrameReader reader;
  reader.path_ = path;
  reader.bytes_ = *std::move(bytes);
  REEL_RETURN_IF_ERROR(reader.Read([&](int, model::RgbImage image) {
    ++reader.frames_;
    reader.width_ = image.width;
    reader.height_ = image.height;
    return true;
  }));
  return reader;
}

absl::Status FrameReader::Read(absl::FunctionRef<bool(int, model::RgbImage)> take) const {
  int index = 0;
  const absl::Status decoded = worker::DecodeClip(
      bytes_, kMostPixels, [] { return absl::OkStatus(); },
      [&](worker::ClipPicture picture) { return take(index++, std::move(picture.image)); });
  if (decoded.ok()) return decoded;
  return absl::InvalidArgumentError(absl::StrCat(path_, " ", decoded.message()));
}

}  // namespace reel::client
