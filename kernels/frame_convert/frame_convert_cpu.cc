// SPDX-License-Identifier: Apache-2.0
// Converts rows of pixels as vectors of fp32, with the operations of frame_convert_job.h in their
// order, so that the bytes equal those of `loops`.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernels/base/float_types.h"
#include "kernels/dispatch/host_threads.h"
#include "kernels/frame_convert/frame_convert_job.h"
#include "kernels/rows/row_vectors.h"

namespace reel::kernels {
namespace {

// A row of pixels in [0,1]: an array for red, green and blue, with a repeated pixel on either side.
using UnitRow = std::array<float*, 3>;

template <typename T>
REEL_INLINE float Unit(T value, bool exact) {
  const float x = ToFloat(value);
  if (exact) return CutToUnit(x * 0.5f + 0.5f);
  const float half = ToFloat(RoundTo<T>(x * 0.5f));
  return CutToUnit(ToFloat(RoundTo<T>(half + 0.5f)));
}

template <typename T>
REEL_INLINE void LoadPatches(const FrameConvertParams& p, const T* in, float* out) {
  for (int64_t x = 0; x < p.width; ++x) {
    out[x] = Unit(in[x / 4 * p.strides[2] + 4 * (x % 4) * p.strides[3]], p.exact);
  }
}

template <typename T>
REEL_INLINE void LoadPixels(const FrameConvertParams& p, const T* in, float* out) {
  const int64_t width = p.width, step = p.strides[2];
  if (step == 1) {
    for (int64_t x = 0; x < width; ++x) out[x] = Unit(in[x], p.exact);
  } else {
    for (int64_t x = 0; x < width; ++x) out[x] = Unit(in[x * step], p.exact);
  }
}

template <typename T>
REEL_INLINE void LoadChannel(const FrameConvertParams& p, int64_t frame, int64_t y, int channel,
                             float* out) {
  const T* in = static_cast<const T*>(p.in) + PixelOffset(p, frame, y, 0, channel);
  if (p.patched) {
    LoadPatches(p, in, out);
  } else {
    LoadPixels(p, in, out);
  }
  out[-1] = out[0];
  out[p.width] = out[p.width - 1];
}

// Channels and rows are loops here and below: each copy of an inlined body is compiled for every
// type and instruction set.
template <typename T>
REEL_INLINE void LoadRows(const FrameConvertParams& p, int64_t frame, int64_t y, size_t count,
                          const std::array<UnitRow, 2>& rows) {
  for (size_t i = 0; i < count; ++i) {
    for (size_t c = 0; c < 3; ++c) {
      LoadChannel<T>(p, frame, y + static_cast<int64_t>(i), static_cast<int>(c), rows[i][c]);
    }
  }
}

// Every `step`-th value.
REEL_INLINE void StoreRow(const FramePlane& plane, int64_t frame, int64_t y, int64_t width,
                          const float* values, int64_t step = 1) {
  uint8_t* out = plane.data + frame * plane.frame + y * plane.row;
  if (plane.column == 1) {
    for (int64_t x = 0; x < width; ++x) out[x] = ToByte(values[x * step]);
  } else {
    for (int64_t x = 0; x < width; ++x) out[x * plane.column] = ToByte(values[x * step]);
  }
}

REEL_INLINE void StoreLuma(const FrameConvertParams& p, int64_t frame, int64_t y,
                           const UnitRow& row, float* scratch) {
  for (int64_t x = 0; x < p.width; ++x) {
    scratch[x] = p.luma_offset + p.luma_scale * Luma(p, {row[0][x], row[1][x], row[2][x]});
  }
  StoreRow(p.planes[0], frame, y, p.width, scratch);
}

// Weighted as AroundSample does, at every pixel: twice the necessary work, but contiguous.
REEL_INLINE void Around(const FrameConvertParams& p, const float* upper, const float* lower,
                        float* out) {
  if (p.center_chroma) {
    for (int64_t x = 0; x < p.width; ++x) {
      out[x] = 0.25f * upper[x] + 0.25f * upper[x + 1] + 0.25f * lower[x] + 0.25f * lower[x + 1];
    }
    return;
  }
  for (int64_t x = 0; x < p.width; ++x) {
    out[x] = 0.125f * upper[x - 1] + 0.25f * upper[x] + 0.125f * upper[x + 1] +
             0.125f * lower[x - 1] + 0.25f * lower[x] + 0.125f * lower[x + 1];
  }
}

REEL_INLINE void StoreChroma(const FrameConvertParams& p, int64_t frame, int64_t y,
                             const UnitRow& upper, const UnitRow& lower, const UnitRow& mean) {
  for (size_t c = 0; c < 3; ++c) Around(p, upper[c], lower[c], mean[c]);
  const auto& [red, green, blue] = mean;
  for (int64_t x = 0; x < p.width; ++x) {
    const float luma = Luma(p, {red[x], green[x], blue[x]});
    blue[x] = 128.0f + p.chroma_scale * (blue[x] - luma) / (2.0f * (1.0f - p.blue));
    red[x] = 128.0f + p.chroma_scale * (red[x] - luma) / (2.0f * (1.0f - p.red));
  }
  for (int plane = 1; plane < 3; ++plane) {
    StoreRow(p.planes[plane], frame, y, (p.width + 1) / 2, plane == 1 ? blue : red, 2);
  }
}

// One row of chroma for the two rows, or the last one, that begin at `2 * y`.
REEL_INLINE void StoreYuv(const FrameConvertParams& p, int64_t frame, int64_t y, size_t count,
                          const std::array<UnitRow, 2>& rows, const UnitRow& scratch) {
  for (size_t i = 0; i < count; ++i) {
    StoreLuma(p, frame, 2 * y + static_cast<int64_t>(i), rows[i], scratch[0]);
  }
  StoreChroma(p, frame, y, rows[0], rows[count - 1], scratch);
}

REEL_INLINE void StoreRgb(const FrameConvertParams& p, int64_t frame, int64_t y,
                          const UnitRow& row) {
  for (int c = 0; c < 3; ++c) {
    float* const values = row[static_cast<size_t>(c)];
    for (int64_t x = 0; x < p.width; ++x) values[x] *= 255.0f;
    StoreRow(p.planes[c], frame, y, p.width, values);
  }
}

template <typename T>
void Rows(const FrameConvertParams& params, int64_t first, int64_t end) {
  const FrameConvertParams p = params;  // no byte that is written depends on it
  const int64_t high = p.yuv ? 2 : 1;   // rows of pixels for a row of chroma
  const int64_t rows = (p.height + high - 1) / high;
  const int64_t padded = p.width + 2;
  std::vector<float> storage(static_cast<size_t>(9 * padded));
  const auto channel = [&](int64_t i) { return storage.data() + i * padded + 1; };
  const std::array<UnitRow, 2> pair = {
      {{channel(0), channel(1), channel(2)}, {channel(3), channel(4), channel(5)}}};
  const UnitRow scratch = {channel(6), channel(7), channel(8)};
  WithWidestVectors([&] {
    for (int64_t row = first; row < end; ++row) {
      const int64_t frame = row / rows, y = row % rows;
      const auto count = static_cast<size_t>(std::min(high, p.height - high * y));
      LoadRows<T>(p, frame, high * y, count, pair);
      if (p.yuv) {
        StoreYuv(p, frame, y, count, pair, scratch);
      } else {
        StoreRgb(p, frame, y, pair[0]);
      }
    }
  });
}

}  // namespace

void FrameConvertCpu(const FrameConvertParams& params, const HostThreads* threads) {
  const int64_t rows = params.frames * (params.yuv ? (params.height + 1) / 2 : params.height);
  VisitFloating(params.dtype, [&]<typename T>(T) {
    DivideRows(threads, rows, params.yuv ? 2 * params.width : params.width,
               [&](int64_t first, int64_t end) { Rows<T>(params, first, end); });
  });
}

}  // namespace reel::kernels
