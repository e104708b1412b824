// SPDX-License-Identifier: Apache-2.0
// If a pixel's channels are contiguous, it handles a pixel at a time; if each channel is a plane,
// many pixels at a time, channel by channel.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/channel_norm_silu/channel_norm_silu_launch.h"
#include "kernels/dispatch/host_threads.h"
#include "kernels/rows/row_vectors.h"
#include "kernels/rows/vector_math.h"

namespace reel::kernels {
namespace {

constexpr int64_t kPixels = 64;

// Reads every `stride`-th element from `offset` on, as fp32.
REEL_INLINE void LoadEvery(const RowOperand& operand, int64_t offset, int64_t stride, int64_t count,
                           float* out) {
  VisitFloating(operand.dtype, [&]<typename T>(T) {
    const T* in = static_cast<const T*>(operand.data) + offset;
    if (stride == 1) return LoadTyped(in, count, out);
    for (int64_t i = 0; i < count; ++i) out[i] = ToFloat(in[i * stride]);
  });
}

REEL_INLINE void StoreEvery(const RowOperand& operand, int64_t offset, int64_t stride,
                            int64_t count, const float* values) {
  VisitFloating(operand.dtype, [&]<typename T>(T) {
    T* out = static_cast<T*>(operand.data) + offset;
    if (stride == 1) return StoreTyped(values, count, out);
    for (int64_t i = 0; i < count; ++i) out[i * stride] = RoundTo<T>(values[i]);
  });
}

// Vectors over the channels; the bias is the same for all pixels, the others belong to a batch
// entry.
struct Vectors {
  std::vector<float> bias, scale, shift;
};

// The vectors of the batch entry that a row belongs to.
REEL_INLINE void LoadVectors(const ChannelNormSiluParams& params, int64_t row, Vectors& vectors) {
  if (params.scale.data == nullptr) return;
  const int64_t width = params.shape.width;
  const RowOperand &scale = params.scale, &shift = params.shift;
  LoadEvery(scale, RowOffset(params.shape, scale, row), scale.inner, width, vectors.scale.data());
  LoadEvery(shift, RowOffset(params.shape, shift, row), shift.inner, width, vectors.shift.data());
}

// Pixels [row, row + count) at equal distances, all in one frame.
class Pixels {
 public:
  REEL_INLINE Pixels(const ChannelNormSiluParams& params, int64_t row, int64_t count)
      : params_(params), row_(row), count_(count) {}

  REEL_INLINE void Convert(const Vectors& vectors, std::vector<float>& sums) const {
    const int64_t width = params_.shape.width;
    float squares[kPixels] = {};
    for (int64_t c = 0; c < width; ++c) {
      float* sum = sums.data() + c * kPixels;
      Add(c, vectors.bias, sum);
      for (int64_t i = 0; i < count_; ++i) squares[i] += sum[i] * sum[i];
    }
    float rstd[kPixels];
    for (int64_t i = 0; i < count_; ++i) {
      rstd[i] = 1.0f / std::sqrt(squares[i] / static_cast<float>(width) + params_.eps);
    }
    for (int64_t c = 0; c < width; ++c) {
      float* v = sums.data() + c * kPixels;
      const float scale = 1.0f + vectors.scale[static_cast<size_t>(c)];
      const float shift = vectors.shift[static_cast<size_t>(c)];
      for (int64_t i = 0; i < count_; ++i) v[i] = v[i] * rstd[i] * scale + shift;
      if (params_.silu) {
        for (int64_t i = 0; i < count_; ++i) v[i] *= VectorSigmoid(v[i]);
      }
      Write(c, v);
    }
  }

 private:
  REEL_INLINE int64_t StrideOf(const RowOperand& operand) const {
    return params_.shape.dims == 0 ? 0 : operand.strides[params_.shape.dims - 1];
  }
  REEL_INLINE void Load(const RowOperand& operand, int64_t channel, float* out) const {
    const int64_t offset = RowOffset(params_.shape, operand, row_) + channel * operand.inner;
    LoadEvery(operand, offset, StrideOf(operand), count_, out);
  }
  REEL_INLINE void Store(const RowOperand& operand, int64_t channel, int64_t further,
                         const float* values) const {
    const int64_t offset = RowOffset(params_.shape, operand, row_) + channel * operand.inner;
    StoreEvery(operand, offset + further, StrideOf(operand), count_, values);
  }
  // Reads c, the input of the norm.
  REEL_INLINE void Add(int64_t channel, const std::vector<float>& bias, float* sum) const {
    Load(params_.x, channel, sum);
    if (params_.residual.data != nullptr) {
      float residual[kPixels];
      Load(params_.residual, channel, residual);
      for (int64_t i = 0; i < count_; ++i) sum[i] += residual[i];
    }
    if (params_.bias.data != nullptr) {
      const float value = bias[static_cast<size_t>(channel)];
      for (int64_t i = 0; i < count_; ++i) sum[i] += value;
    }
    if (params_.sum.data != nullptr) Store(params_.sum, channel, 0, sum);
  }
  // Writes them to their place and to every pad that they fill.
  REEL_INLINE void Write(int64_t channel, const float* values) const {
    const Copies copies = CopiesOf(params_, row_);
    for (int64_t frame = -copies.front; frame <= copies.back; ++frame) {
      Store(params_.out, channel, frame * params_.out_frame_stride, values);
    }
  }

  const ChannelNormSiluParams& params_;
  const int64_t row_, count_;
};

// The same for pixels with contiguous channels, a pixel at a time.
class PixelsApart {
 public:
  REEL_INLINE PixelsApart(const ChannelNormSiluParams& params, int64_t row, int64_t count)
      : params_(params), row_(row), count_(count) {}

  // `sum` has room for twice the channels.
  REEL_INLINE void Convert(const Vectors& vectors, float* sum) const {
    const int64_t width = params_.shape.width;
    const Copies copies = CopiesOf(params_, row_);
    const float *bias = vectors.bias.data(), *scale = vectors.scale.data(),
                *shift = vectors.shift.data();
    float* further = sum + width;
    const Place x(params_, params_.x, row_), residual(params_, params_.residual, row_),
        kept(params_, params_.sum, row_), out(params_, params_.out, row_);
    for (int64_t i = 0; i < count_; ++i) {
      x.Load(i, width, sum);
      if (params_.residual.data != nullptr) {
        residual.Load(i, width, further);
        for (int64_t c = 0; c < width; ++c) sum[c] += further[c];
      }
      if (params_.bias.data != nullptr) {
        for (int64_t c = 0; c < width; ++c) sum[c] += bias[c];
      }
      if (params_.sum.data != nullptr) kept.Store(i, 0, width, sum);
      const float squares = LaneSum(width, [sum](int64_t c) { return sum[c] * sum[c]; });
      const float rstd = 1.0f / std::sqrt(squares / static_cast<float>(width) + params_.eps);
      for (int64_t c = 0; c < width; ++c) sum[c] = sum[c] * rstd * (1.0f + scale[c]) + shift[c];
      if (params_.silu) {
        for (int64_t c = 0; c < width; ++c) sum[c] *= VectorSigmoid(sum[c]);
      }
      for (int64_t frame = -copies.front; frame <= copies.back; ++frame) {
        out.Store(i, frame * params_.out_frame_stride, width, sum);
      }
    }
  }

 private:
  // The address of these pixels in an operand.
  class Place {
   public:
    REEL_INLINE Place(const ChannelNormSiluParams& params, const RowOperand& operand, int64_t row)
        : operand_(operand),
          first_(operand.data == nullptr ? 0 : RowOffset(params.shape, operand, row)),
          stride_(params.shape.dims == 0 ? 0 : operand.strides[params.shape.dims - 1]) {}

    REEL_INLINE void Load(int64_t pixel, int64_t width, float* values) const {
      LoadEvery(operand_, first_ + pixel * stride_, 1, width, values);
    }
    REEL_INLINE void Store(int64_t pixel, int64_t further, int64_t width,
                           const float* values) const {
      StoreEvery(operand_, first_ + pixel * stride_ + further, 1, width, values);
    }

   private:
    const RowOperand& operand_;
    const int64_t first_, stride_;
  };

  const ChannelNormSiluParams& params_;
  const int64_t row_, count_;
};

void Rows(const ChannelNormSiluParams& params, int64_t first, int64_t end) {
  const RowShape& shape = params.shape;
  const auto width = static_cast<size_t>(shape.width);
  Vectors vectors{std::vector<float>(width), std::vector<float>(width),
                  std::vector<float>(width, kNoAddend)};
  std::vector<float> sums(width * kPixels);
  const bool by_pixel = SideBySide(params.x, params.residual, params.sum, params.out);
  const int64_t run = shape.dims == 0 ? 1 : shape.sizes[shape.dims - 1];
  WithWidestVectors([&] {
    if (params.bias.data != nullptr) {
      LoadEvery(params.bias, 0, params.bias.inner, shape.width, vectors.bias.data());
    }
    for (int64_t row = first; row < end;) {
      const int64_t count = std::min(
          {kPixels, end - row, run - row % run, params.frame_rows - row % params.frame_rows});
      LoadVectors(params, row, vectors);
      if (by_pixel) {
        PixelsApart(params, row, count).Convert(vectors, sums.data());
      } else {
        Pixels(params, row, count).Convert(vectors, sums);
      }
      row += count;
    }
  });
}

}  // namespace

void ChannelNormSiluCpu(const ChannelNormSiluParams& params, const HostThreads* threads) {
  DivideRows(threads, params.shape.rows, params.shape.width,
             [&](int64_t first, int64_t end) { Rows(params, first, end); });
}

}  // namespace reel::kernels
