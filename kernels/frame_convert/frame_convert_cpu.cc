// SPDX-License-Identifier: Apache-2.0
// Converts rows of pixels as vectors of fp32, with the operations of frame_convert_job.h in their
// order, so that the bytes equal those of `loops`.
#include <cmath>
#include <vector>

#include "kernels/base/float_types.h"
#include "kernels/dispatch/host_threads.h"
#include "kernels/frame_convert/frame_convert_job.h"
#include "kernels/rows/row_vectors.h"

namespace reel::kernels {
namespace {

// A row of pixels in [0,1], one array a channel, with a repeated pixel on either side.
struct UnitRow {
  float* r;
  float* g;
  float* b;
};

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

template <typename T>
REEL_INLINE void LoadRow(const FrameConvertParams& p, int64_t frame, int64_t y,
                         const UnitRow& row) {
  LoadChannel<T>(p, frame, y, 0, row.r);
  LoadChannel<T>(p, frame, y, 1, row.g);
  LoadChannel<T>(p, frame, y, 2, row.b);
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
    scratch[x] = p.luma_offset + p.luma_scale * Luma(p, {row.r[x], row.g[x], row.b[x]});
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
  Around(p, upper.r, lower.r, mean.r);
  Around(p, upper.g, lower.g, mean.g);
  Around(p, upper.b, lower.b, mean.b);
  for (int64_t x = 0; x < p.width; ++x) {
    const float luma = Luma(p, {mean.r[x], mean.g[x], mean.b[x]});
    mean.b[x] = 128.0f + p.chroma_scale * (mean.b[x] - luma) / (2.0f * (1.0f - p.blue));
    mean.r[x] = 128.0f + p.chroma_scale * (mean.r[x] - luma) / (2.0f * (1.0f - p.red));
  }
  const int64_t columns = (p.width + 1) / 2;
  StoreRow(p.planes[1], frame, y, columns, mean.b, 2);
  StoreRow(p.planes[2], frame, y, columns, mean.r, 2);
}

// Two rows of pixels for one row of chroma.
template <typename T>
REEL_INLINE void ConvertPair(const FrameConvertParams& p, int64_t frame, int64_t y,
                             const UnitRow& upper, const UnitRow& lower, const UnitRow& scratch) {
  const bool has_lower = 2 * y + 1 < p.height;
  LoadRow<T>(p, frame, 2 * y, upper);
  if (has_lower) LoadRow<T>(p, frame, 2 * y + 1, lower);
  const UnitRow& below = has_lower ? lower : upper;
  StoreLuma(p, frame, 2 * y, upper, scratch.r);
  if (has_lower) StoreLuma(p, frame, 2 * y + 1, lower, scratch.r);
  StoreChroma(p, frame, y, upper, below, scratch);
}

REEL_INLINE void Scale(float* row, int64_t width) {
  for (int64_t x = 0; x < width; ++x) row[x] *= 255.0f;
}

template <typename T>
REEL_INLINE void ConvertRow(const FrameConvertParams& p, int64_t frame, int64_t y,
                            const UnitRow& row) {
  LoadRow<T>(p, frame, y, row);
  float* const channels[] = {row.r, row.g, row.b};
  for (int c = 0; c < 3; ++c) {
    Scale(channels[c], p.width);
    StoreRow(p.planes[c], frame, y, p.width, channels[c]);
  }
}

template <typename T>
void Rows(const FrameConvertParams& params, int64_t first, int64_t end) {
  const FrameConvertParams p = params;  // no byte that is written depends on it
  const int64_t rows = p.yuv ? (p.height + 1) / 2 : p.height;
  const int64_t padded = p.width + 2;
  std::vector<float> storage(static_cast<size_t>(9 * padded));
  const auto channel = [&](int64_t i) { return storage.data() + i * padded + 1; };
  const UnitRow upper = {channel(0), channel(1), channel(2)};
  const UnitRow lower = {channel(3), channel(4), channel(5)};
  const UnitRow scratch = {channel(6), channel(7), channel(8)};
  WithWidestVectors([&] {
    for (int64_t row = first; row < end; ++row) {
      if (p.yuv) {
        ConvertPair<T>(p, row / rows, row % rows, upper, lower, scratch);
      } else {
        ConvertRow<T>(p, row / rows, row % rows, upper);
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
