// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/frame_colors.h"

#include <algorithm>
#include <cstdint>

#include "kernels/base/status_macros.h"

extern "C" {
#include <libavutil/pixfmt.h>
}

namespace reel::worker {
namespace {

// The positions of the upper bytes of red, green and blue in a pixel.
struct PackedFormat {
  AVPixelFormat format;
  int bytes, red, green, blue;
};

constexpr PackedFormat kPacked[] = {
    {AV_PIX_FMT_RGB24, 3, 0, 1, 2},    {AV_PIX_FMT_RGBA, 4, 0, 1, 2},
    {AV_PIX_FMT_ARGB, 4, 1, 2, 3},     {AV_PIX_FMT_BGRA, 4, 2, 1, 0},
    {AV_PIX_FMT_GRAY8, 1, 0, 0, 0},    {AV_PIX_FMT_YA8, 2, 0, 0, 0},
    {AV_PIX_FMT_RGB48BE, 6, 0, 2, 4},  {AV_PIX_FMT_RGBA64BE, 8, 0, 2, 4},
    {AV_PIX_FMT_GRAY16BE, 2, 0, 0, 0}, {AV_PIX_FMT_YA16BE, 4, 0, 0, 0},
};

model::RgbImage Sized(const AVFrame& frame) {
  model::RgbImage image{frame.width, frame.height, {}};
  image.pixels.reserve(size_t{3} * static_cast<size_t>(frame.width) *
                       static_cast<size_t>(frame.height));
  return image;
}

const uint8_t* Row(const AVFrame& frame, int y) {
  return frame.data[0] + ptrdiff_t{y} * frame.linesize[0];
}

// The palette's entries are words of alpha, red, green, blue.
model::RgbImage FromPalette(const AVFrame& frame) {
  const auto* palette = reinterpret_cast<const uint32_t*>(frame.data[1]);
  model::RgbImage image = Sized(frame);
  for (int y = 0; y < frame.height; ++y) {
    for (int x = 0; x < frame.width; ++x) {
      const uint32_t color = palette[Row(frame, y)[x]];
      for (const int shift : {16, 8, 0}) {
        image.pixels.push_back(static_cast<uint8_t>(color >> shift));
      }
    }
  }
  return image;
}

// One bit a pixel, the first in the highest; 1 is white.
model::RgbImage FromBits(const AVFrame& frame) {
  model::RgbImage image = Sized(frame);
  for (int y = 0; y < frame.height; ++y) {
    for (int x = 0; x < frame.width; ++x) {
      const bool white = (Row(frame, y)[x / 8] >> (7 - x % 8) & 1) != 0;
      image.pixels.insert(image.pixels.end(), 3, white ? 255 : 0);
    }
  }
  return image;
}

}  // namespace

absl::StatusOr<model::RgbImage> RgbOfPacked(const AVFrame& frame) {
  if (frame.format == AV_PIX_FMT_PAL8) return FromPalette(frame);
  if (frame.format == AV_PIX_FMT_MONOBLACK) return FromBits(frame);
  const auto* const packed =
      std::find_if(std::begin(kPacked), std::end(kPacked),
                   [&](const PackedFormat& known) { return known.format == frame.format; });
  if (packed == std::end(kPacked)) return absl::UnimplementedError("no packed format");
  model::RgbImage image = Sized(frame);
  if (frame.format == AV_PIX_FMT_RGB24) {
    for (int y = 0; y < frame.height; ++y) {
      image.pixels.insert(image.pixels.end(), Row(frame, y),
                          Row(frame, y) + size_t{3} * static_cast<size_t>(frame.width));
    }
    return image;
  }
  for (int y = 0; y < frame.height; ++y) {
    const uint8_t* pixel = Row(frame, y);
    for (int x = 0; x < frame.width; ++x, pixel += packed->bytes) {
      image.pixels.push_back(pixel[packed->red]);
      image.pixels.push_back(pixel[packed->green]);
      image.pixels.push_back(pixel[packed->blue]);
    }
  }
  return image;
}

absl::StatusOr<model::RgbImage> RgbOfFrame(const AVFrame& frame, int flags, SwsContextPtr& scaler) {
  const auto format = static_cast<AVPixelFormat>(frame.format);
  scaler.reset(sws_getCachedContext(scaler.release(), frame.width, frame.height, format,
                                    frame.width, frame.height, AV_PIX_FMT_RGB24, flags, nullptr,
                                    nullptr, nullptr));
  AvFramePtr rgb(av_frame_alloc());
  if (!scaler || !rgb)
    return absl::InvalidArgumentError("has a colour format that is not supported");
  const int* from = sws_getCoefficients(frame.colorspace);
  const int* to = sws_getCoefficients(SWS_CS_DEFAULT);
  // Negative: already RGB, nothing to set.
  sws_setColorspaceDetails(scaler.get(), from, frame.color_range == AVCOL_RANGE_JPEG, to, 1, 0,
                           1 << 16, 1 << 16);
  rgb->format = AV_PIX_FMT_RGB24;
  rgb->width = frame.width;
  rgb->height = frame.height;
  REEL_RETURN_IF_ERROR(AvStatus(av_frame_get_buffer(rgb.get(), 0), "av_frame_get_buffer"));
  REEL_RETURN_IF_ERROR(AvStatus(sws_scale(scaler.get(), frame.data, frame.linesize, 0, frame.height,
                                          rgb->data, rgb->linesize),
                                "sws_scale"));
  return RgbOfPacked(*rgb);
}

}  // namespace reel::worker
