// SPDX-License-Identifier: Apache-2.0
// Pixels side by side as vectors, a channel at a time: frames of a CPU have a plane for each.
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

// Every `stride`-th element from `offset` on, in fp32.
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

// Of the channels; bias is the same for all pixels, the others for those of one of the batch.
struct Vectors {
  std::vector<float> bias, scale, shift;
};

// Pixels [row, row + count) that lie at one distance from each other, all of one frame.
class Pixels {
 public:
  REEL_INLINE Pixels(const ChannelNormSiluParams& params, int64_t row, int64_t count)
      : params_(params), row_(row), count_(count) {}

  REEL_INLINE void Convert(Vectors& vectors, std::vector<float>& sums) const {
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
    LoadVectors(vectors);
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
  // What the norm is of.
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
  REEL_INLINE void LoadVectors(Vectors& vectors) const {
    if (params_.scale.data == nullptr) return;
    const int64_t width = params_.shape.width;
    const RowOperand &scale = params_.scale, &shift = params_.shift;
    LoadEvery(scale, RowOffset(params_.shape, scale, row_), scale.inner, width,
              vectors.scale.data());
    LoadEvery(shift, RowOffset(params_.shape, shift, row_), shift.inner, width,
              vectors.shift.data());
  }
  // At their place and in every pad that they fill.
  REEL_INLINE void Write(int64_t channel, const float* values) const {
    const Copies copies = CopiesOf(params_, row_);
    for (int64_t frame = -copies.front; frame <= copies.back; ++frame) {
      Store(params_.out, channel, frame * params_.out_frame_stride, values);
    }
  }

  const ChannelNormSiluParams& params_;
  const int64_t row_, count_;
};

void Rows(const ChannelNormSiluParams& params, int64_t first, int64_t end) {
  const RowShape& shape = params.shape;
  const auto width = static_cast<size_t>(shape.width);
  Vectors vectors{std::vector<float>(width), std::vector<float>(width),
                  std::vector<float>(width, kNoAddend)};
  std::vector<float> sums(width * kPixels);
  const int64_t run = shape.dims == 0 ? 1 : shape.sizes[shape.dims - 1];
  WithWidestVectors([&] {
    if (params.bias.data != nullptr) {
      LoadEvery(params.bias, 0, params.bias.inner, shape.width, vectors.bias.data());
    }
    for (int64_t row = first; row < end;) {
      const int64_t count = std::min(
          {kPixels, end - row, run - row % run, params.frame_rows - row % params.frame_rows});
      Pixels(params, row, count).Convert(vectors, sums);
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
