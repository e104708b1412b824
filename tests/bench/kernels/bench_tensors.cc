// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/kernels/bench_tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/base/float_types.h"
#include "kernels/base/status_macros.h"

namespace reel::kernels {
namespace {

// The sum of four uniform numbers, of variance 1: no zeros, no outliers, no state.
float RandomAt(uint64_t index) {
  uint64_t bits = (index + 1) * 0x9E3779B97F4A7C15u;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  bits ^= bits >> 31;
  float sum = 0;
  for (int part = 0; part < 4; ++part) {
    sum += static_cast<float>((bits >> (16 * part)) & 0xFFFF) / 65536.0f - 0.5f;
  }
  return sum * 1.7320508f;
}

std::vector<unsigned char> Poisoned() { return std::vector<unsigned char>(4096, 0xFF); }

}  // namespace

TensorView BenchTensors::Repeat(Dtype dtype, const std::vector<int64_t>& sizes,
                                const std::vector<unsigned char>& pattern) {
  TensorView view = Contiguous(nullptr, dtype, sizes, device_.stream().device);
  const int64_t bytes = view.num_elements() * DtypeSize(dtype);
  bytes_ += bytes;
  const auto memory = device_.Allocate(bytes);
  if (!memory.ok()) {
    status_.Update(memory.status());
    return view;
  }
  view.data = *memory;
  status_.Update(FillWith(view, pattern));
  return view;
}

absl::Status BenchTensors::FillWith(const TensorView& view,
                                    const std::vector<unsigned char>& pattern) {
  const int64_t bytes = view.num_elements() * DtypeSize(view.dtype);
  auto* data = static_cast<char*>(view.data);
  int64_t done = std::min(bytes, static_cast<int64_t>(pattern.size()));
  REEL_RETURN_IF_ERROR(device_.Write(data, pattern.data(), done));
  while (done < bytes) {
    const int64_t part = std::min(done, bytes - done);
    REEL_RETURN_IF_ERROR(device_.Move(data + done, data, part));
    done += part;
  }
  return absl::OkStatus();
}

TensorView BenchTensors::Input(Dtype dtype, const std::vector<int64_t>& sizes, int64_t period,
                               uint64_t number) {
  const auto random = [&](int64_t i) {
    return RandomAt((number << 40) + static_cast<uint64_t>(i));
  };
  std::vector<unsigned char> pattern(static_cast<size_t>(period * DtypeSize(dtype)));
  if (dtype == Dtype::kI8) {  // as rows are that reach four times as far as they are wide
    for (int64_t i = 0; i < period; ++i) {
      const auto code = static_cast<int8_t>(std::lround(32 * random(i)));
      pattern[static_cast<size_t>(i)] = static_cast<unsigned char>(code);
    }
    return Repeat(dtype, sizes, pattern);
  }
  VisitFloating(dtype, [&]<typename T>(T) {
    for (int64_t i = 0; i < period; ++i) {
      const T value = RoundTo<T>(random(i));
      std::memcpy(pattern.data() + static_cast<size_t>(i) * sizeof(T), &value, sizeof(T));
    }
  });
  return Repeat(dtype, sizes, pattern);
}

TensorView BenchTensors::Table(Dtype dtype, const std::vector<int64_t>& sizes, const void* values) {
  const TensorView shape = Contiguous(nullptr, dtype, sizes);
  const auto* bytes = static_cast<const unsigned char*>(values);
  return Repeat(dtype, sizes, {bytes, bytes + shape.num_elements() * DtypeSize(dtype)});
}

TensorView BenchTensors::Output(Dtype dtype, const std::vector<int64_t>& sizes) {
  outputs_.push_back(Repeat(dtype, sizes, Poisoned()));
  return outputs_.back();
}

TensorView BenchTensors::Scratch(int64_t size) { return Repeat(Dtype::kU8, {size}, Poisoned()); }

absl::Status BenchTensors::Poison() {
  for (const TensorView& output : outputs_) REEL_RETURN_IF_ERROR(FillWith(output, Poisoned()));
  return absl::OkStatus();
}

}  // namespace reel::kernels
