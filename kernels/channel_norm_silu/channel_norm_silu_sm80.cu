// SPDX-License-Identifier: Apache-2.0
// channel_norm_silu for pixels of 16-byte vectors (ChannelNormSiluVectorAccepts). With up to 1024
// channels of 16 bits in frames of contiguous pixels, a block handles pixels of one frame and
// decides once how often to write them. Other calls take the general kernel.
#include "kernels/channel_norm_silu/channel_norm_silu_row.cuh"
#include "kernels/rows/plain_norm.cuh"

namespace reel::kernels {
namespace {

struct PlainChannelNorm {
  PlainOperand x, residual, bias, sum, out, scale, shift;
  int64_t outer_rows;
  int64_t outer_frames;  // of an outer row: a whole number of clips
  int64_t frames;        // of a clip
  int64_t frame_rows;
  int64_t out_frame_bytes;
  int64_t pad_front;
  int64_t pad_back;
  int32_t vectors;
  float inverse_width;
  float eps;
};

// The scale and shift of a block's frame, which all its pixels share.
template <typename T, bool kModulated, int kVectors, int kLanes>
struct FrameModulation {
  uint4 scale[kModulated ? kVectors : 1];
  uint4 shift[kModulated ? kVectors : 1];

  __device__ FrameModulation(const PlainChannelNorm& p, int64_t outer, int64_t row, int lane) {
    if constexpr (kModulated) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        if (v * kLanes + lane >= p.vectors) continue;
        using Row = PlainRow<T, 0, 1, 1>;
        scale[v] = Row::template At<Reuse::kCached>(p.scale, outer, row, v * kLanes + lane);
        shift[v] = Row::template At<Reuse::kCached>(p.shift, outer, row, v * kLanes + lane);
      }
    }
  }
  __device__ void Apply(int v, float (&values)[kPerVector<T>]) const {
    if constexpr (kModulated) {
      float by[kPerVector<T>];
      float added[kPerVector<T>];
      Unpack<T>(scale[v], by);
      Unpack<T>(shift[v], added);
#pragma unroll
      for (int k = 0; k < kPerVector<T>; ++k) values[k] = values[k] * (1.0f + by[k]) + added[k];
    }
  }
};

// What is added to x before the norm. A bias alone needs no more loads than x.
enum class Added { kNothing, kBias, kAny };

Added AddedOf(const ChannelNormSiluParams& p) {
  if (p.residual.data != nullptr || p.sum.data != nullptr) return Added::kAny;
  return p.bias.data != nullptr ? Added::kBias : Added::kNothing;
}

// One vector of the norm's input.
template <typename T, Added kAdded>
__device__ void Unpacked(const PlainChannelNorm& p, const uint4& x, const uint4& residual,
                         const uint4& bias, float (&values)[kPerVector<T>]) {
  Unpack<T>(x, values);
  float added[kPerVector<T>];
  if (kAdded == Added::kAny && p.residual.data != nullptr) {
    Unpack<T>(residual, added);
#pragma unroll
    for (int k = 0; k < kPerVector<T>; ++k) values[k] += added[k];
  }
  if (kAdded == Added::kBias || (kAdded == Added::kAny && p.bias.data != nullptr)) {
    Unpack<T>(bias, added);
#pragma unroll
    for (int k = 0; k < kPerVector<T>; ++k) values[k] += added[k];
  }
}

template <typename T>
__device__ void StoreCopies(const PlainChannelNorm& p, int64_t frame, char* out, int vector,
                            const float (&values)[kPerVector<T>]) {
  const auto store = [&](int64_t frames_on) {
    StoreRow<T>(RowPointer{out + frames_on * p.out_frame_bytes, 1, false},
                int64_t{vector} * kPerVector<T>, values);
  };
  store(0);
  if (frame == 0) {
    for (int64_t copy = 1; copy <= p.pad_front; ++copy) store(-copy);
  }
  if (frame == p.frames - 1) {
    for (int64_t copy = 1; copy <= p.pad_back; ++copy) store(copy);
  }
}

// kLanes threads a pixel, kRows pixels at once.
template <typename T, Added kAdded, bool kModulated, bool kSilu, int kVectors, int kLanes,
          int kRows>
__global__ void __launch_bounds__(kVectorThreads)
    ChannelNormPixels(const __grid_constant__ PlainChannelNorm p) {
  constexpr int kPer = kPerVector<T>;
  constexpr int kGroups = kVectorThreads / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int group = static_cast<int>(threadIdx.x) / kLanes;
  constexpr bool kAny = kAdded == Added::kAny;
  constexpr int kBiases = kAdded == Added::kNothing ? 1 : kVectors;
  uint4 bias[kBiases] = {};
  if constexpr (kAdded != Added::kNothing) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (p.bias.data == nullptr || v * kLanes + lane >= p.vectors) continue;
      bias[v] =
          Load16<Reuse::kCached>(reinterpret_cast<const uint4*>(p.bias.data) + v * kLanes + lane);
    }
  }
  const int64_t all_frames = p.outer_rows * p.outer_frames;
  for (int64_t job = blockIdx.y; job < all_frames; job += gridDim.y) {
    const int64_t outer = p.outer_rows == 1 ? 0 : Quotient(job, p.outer_frames);
    const int64_t in_outer = job - outer * p.outer_frames;
    const int64_t frame = in_outer - Quotient(in_outer, p.frames) * p.frames;
    const int64_t begin = in_outer * p.frame_rows;
    const FrameModulation<T, kModulated, kVectors, kLanes> modulation(p, outer, begin, lane);
    const auto at = [&](const PlainOperand& operand) {
      return operand.data + outer * operand.outer + begin * operand.inner;
    };
    const char* x = at(p.x);
    const char* residual = at(p.residual);
    char* sum_out = at(p.sum);
    char* out = at(p.out);
    for (int64_t first = int64_t{blockIdx.x} * kGroups * kRows; first < p.frame_rows;
         first += int64_t{gridDim.x} * kGroups * kRows) {
      uint4 raw[kRows][kVectors];
      uint4 added[kAny ? kRows : 1][kAny ? kVectors : 1];
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int64_t pixel = first + r * kGroups + group;
        const int64_t from = pixel < p.frame_rows ? pixel : first;
        const auto load = [&](const char* data, const PlainOperand& operand, int v) {
          return Load16<Reuse::kStreamed>(
              reinterpret_cast<const uint4*>(data + from * operand.inner) + v * kLanes + lane);
        };
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
          if (v * kLanes + lane >= p.vectors) continue;
          raw[r][v] = load(x, p.x, v);
          if constexpr (kAny) {
            if (p.residual.data != nullptr) added[r][v] = load(residual, p.residual, v);
          }
        }
      }
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int64_t pixel = first + r * kGroups + group;
        const auto unpacked = [&](int v, float(&values)[kPer]) {
          Unpacked<T, kAdded>(p, raw[r][v], added[kAny ? r : 0][kAny ? v : 0],
                              bias[kBiases == 1 ? 0 : v], values);
        };
        float squares = 0;
        float values[kPer];
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
          if (v * kLanes + lane >= p.vectors) continue;
          unpacked(v, values);
#pragma unroll
          for (int k = 0; k < kPer; ++k) squares += values[k] * values[k];
        }
        const float sum = GroupSum<kLanes>(squares, nullptr);
        const float rstd = rsqrtf(sum * p.inverse_width + p.eps);
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
          if (pixel >= p.frame_rows || v * kLanes + lane >= p.vectors) continue;
          unpacked(v, values);
          if constexpr (kAny) {
            if (p.sum.data != nullptr) {
              StoreRow<T>(RowPointer{sum_out + pixel * p.sum.inner, 1, false},
                          int64_t{v * kLanes + lane} * kPer, values);
            }
          }
#pragma unroll
          for (int k = 0; k < kPer; ++k) values[k] *= rstd;
          modulation.Apply(v, values);
          if constexpr (kSilu) {
#pragma unroll
            for (int k = 0; k < kPer; ++k) values[k] = TimesSigmoid(values[k], values[k]);
          }
          StoreCopies<T>(p, frame, out + pixel * p.out.inner, v * kLanes + lane, values);
        }
      }
    }
  }
}

// Whole clips of frames of equally spaced pixels, and vectors of the pixels' type.
bool IsPlain(const ChannelNormSiluParams& p) {
  const int64_t inner_rows = p.shape.dims < 2 ? p.shape.rows : p.shape.sizes[1];
  const bool modulated = p.scale.data != nullptr;
  // One scale for all pixels of an outer row.
  const auto fits = [&](const RowOperand& operand) {
    return operand.data == nullptr ||
           (operand.dtype == p.x.dtype && PlainOf(p.shape, operand).inner == 0);
  };
  return p.shape.width * DtypeSize(p.x.dtype) <= 2048 &&
         inner_rows % (p.frames * p.frame_rows) == 0 && modulated == (p.shift.data != nullptr) &&
         fits(p.scale) && fits(p.shift) && fits(p.bias) &&
         (p.silu || AddedOf(p) == Added::kNothing);
}

PlainChannelNorm PlainOf(const ChannelNormSiluParams& p) {
  const int64_t bytes = DtypeSize(p.x.dtype);
  PlainChannelNorm plain{};
  plain.x = PlainOf(p.shape, p.x);
  plain.residual = PlainOf(p.shape, p.residual);
  plain.bias = PlainOf(p.shape, p.bias);
  plain.sum = PlainOf(p.shape, p.sum);
  plain.out = PlainOf(p.shape, p.out);
  plain.scale = PlainOf(p.shape, p.scale);
  plain.shift = PlainOf(p.shape, p.shift);
  plain.outer_rows = p.shape.dims < 2 ? 1 : p.shape.sizes[0];
  plain.outer_frames = p.shape.rows / plain.outer_rows / p.frame_rows;
  plain.frames = p.frames;
  plain.frame_rows = p.frame_rows;
  plain.out_frame_bytes = p.out_frame_stride * bytes;
  plain.pad_front = p.pad_front;
  plain.pad_back = p.pad_back;
  plain.vectors = static_cast<int32_t>(p.shape.width * bytes / 16);
  plain.inverse_width = 1.0f / static_cast<float>(p.shape.width);
  plain.eps = p.eps;
  return plain;
}

template <typename T, Added kAdded, bool kModulated, bool kSilu>
int32_t LaunchSizes(const PlainChannelNorm& p, cudaStream_t stream) {
  const auto launch = [&]<int kVectors, int kLanes, int kRows>() {
    const dim3 grid(GridFor(p.frame_rows, kVectorThreads / kLanes * kRows),
                    static_cast<unsigned>(std::min<int64_t>(p.outer_rows * p.outer_frames, 65535)));
    return LaunchVectorKernel<false>(
        ChannelNormPixels<T, kAdded, kModulated, kSilu, kVectors, kLanes, kRows>, p, grid, stream);
  };
  // A pixel with a residual takes twice the registers.
  constexpr bool kTwice = kAdded == Added::kAny;
  if (p.vectors <= 16) return launch.template operator()<1, 16, kTwice ? 4 : 8>();
  if (p.vectors <= 32) return launch.template operator()<1, 32, kTwice ? 3 : 6>();
  if (p.vectors <= 64) return launch.template operator()<2, 32, 2>();
  return launch.template operator()<4, 32, 1>();
}

template <typename T, Added kAdded>
int32_t LaunchForms(const ChannelNormSiluParams& params, cudaStream_t stream) {
  const PlainChannelNorm plain = PlainOf(params);
  const bool modulated = params.scale.data != nullptr;
  if (kAdded != Added::kNothing || params.silu) {
    return modulated ? LaunchSizes<T, kAdded, true, true>(plain, stream)
                     : LaunchSizes<T, kAdded, false, true>(plain, stream);
  }
  return modulated ? LaunchSizes<T, Added::kNothing, true, false>(plain, stream)
                   : LaunchSizes<T, Added::kNothing, false, false>(plain, stream);
}

}  // namespace

int32_t LaunchChannelNormSiluSm80(const ChannelNormSiluParams& params, void* stream) {
  if (params.shape.rows == 0 || params.shape.width == 0) return cudaSuccess;
  if (!IsPlain(params)) return LaunchVectorRows<false>(ChannelNormSiluRow{params}, stream);
  const auto on = static_cast<cudaStream_t>(stream);
  return WithDeviceType(params.x.dtype, [&]<typename T>(T) {
    switch (AddedOf(params)) {
      case Added::kNothing:
        return LaunchForms<T, Added::kNothing>(params, on);
      case Added::kBias:
        return LaunchForms<T, Added::kBias>(params, on);
      case Added::kAny:
        break;
    }
    return LaunchForms<T, Added::kAny>(params, on);
  });
}

}  // namespace reel::kernels
