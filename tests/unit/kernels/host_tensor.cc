// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/host_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <utility>

#include "kernels/base/float_types.h"

namespace reel::kernels {
namespace {

constexpr unsigned char kPoison = 0xA5;
constexpr size_t kGuard = 256;

// Strides and the number of elements that they span.
std::vector<int64_t> StridesFor(const std::vector<int64_t>& sizes, Layout layout) {
  std::vector<int64_t> strides(sizes.size());
  std::vector<size_t> order(sizes.size());  // innermost first
  for (size_t i = 0; i < sizes.size(); ++i) order[i] = sizes.size() - 1 - i;
  if (layout == Layout::kPermuted && sizes.size() >= 2) std::swap(order[0], order[1]);
  int64_t stride = layout == Layout::kStrided ? 2 : 1;
  for (size_t i = 0; i < order.size(); ++i) {
    strides[order[i]] = stride;
    stride *= std::max<int64_t>(sizes[order[i]], 1);
    if (i == 0 && layout == Layout::kPadded) stride += 24;
  }
  return strides;
}

template <typename Number>
void Write(unsigned char* at, Number value) {
  std::memcpy(at, &value, sizeof(value));
}
template <typename Number>
Number Read(const unsigned char* at) {
  Number value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// Normal numbers by the polar method, those of the standard library. Its distribution takes the
// logarithm of a long double for each, which was a quarter of what these tests took.
class NormalNumbers {
 public:
  explicit NormalNumbers(uint64_t seed) : random_(seed) {}

  double Next() {
    if (kept_) return *std::exchange(kept_, std::nullopt);
    double x = 0, y = 0, square = 0;
    do {
      x = Uniform();
      y = Uniform();
      square = x * x + y * y;
    } while (square > 1 || square == 0);
    const double factor = std::sqrt(-2 * std::log(square) / square);
    kept_ = x * factor;
    return y * factor;
  }

 private:
  double Uniform() { return 2 * (static_cast<double>(random_()) * 0x1p-64) - 1; }  // from -1 to 1

  std::mt19937_64 random_;
  std::optional<double> kept_;
};

}  // namespace

const char* LayoutName(Layout layout) {
  static constexpr const char* kNames[] = {"Contiguous", "Offset", "Padded", "Strided", "Permuted"};
  return kNames[static_cast<int>(layout)];
}

HostTensor::HostTensor(Dtype dtype, std::vector<int64_t> sizes, Layout layout) {
  const std::vector<int64_t> strides = StridesFor(sizes, layout);
  view_ = Strided(nullptr, dtype, sizes, strides);
  int64_t count = 1;
  int64_t span = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    count *= sizes[d];
    span += std::max<int64_t>(sizes[d] - 1, 0) * strides[d];
  }
  const auto bytes = static_cast<size_t>(DtypeSize(dtype));
  storage_.assign(3 * kGuard + static_cast<size_t>(span + 1) * bytes, kPoison);
  const auto base = reinterpret_cast<uintptr_t>(storage_.data());
  offset_ = 2 * kGuard - base % kGuard + (layout == Layout::kOffset ? bytes : 0);
  view_.data = storage_.data() + offset_;
  positions_.reserve(static_cast<size_t>(count));
  for (int64_t index = 0; index < count; ++index) {
    int64_t rest = index;
    int64_t position = 0;
    for (size_t d = sizes.size(); d-- > 0;) {
      position += rest % sizes[d] * strides[d];
      rest /= sizes[d];
    }
    positions_.push_back(position);
  }
}

double HostTensor::Get(int64_t index) const {
  const unsigned char* at =
      storage_.data() + offset_ +
      static_cast<size_t>(positions_[static_cast<size_t>(index)] * DtypeSize(view_.dtype));
  switch (view_.dtype) {
    case Dtype::kF16:
      return static_cast<double>(ToFloat(Read<Half>(at)));
    case Dtype::kBf16:
      return static_cast<double>(ToFloat(Read<BFloat16>(at)));
    case Dtype::kF32:
      return static_cast<double>(Read<float>(at));
    case Dtype::kF64:
      return Read<double>(at);
    case Dtype::kI32:
      return Read<int32_t>(at);
    case Dtype::kI64:
      return static_cast<double>(Read<int64_t>(at));
    case Dtype::kI8:
      return Read<int8_t>(at);
    default:
      return *at;
  }
}

void HostTensor::Set(int64_t index, double value) {
  unsigned char* at =
      storage_.data() + offset_ +
      static_cast<size_t>(positions_[static_cast<size_t>(index)] * DtypeSize(view_.dtype));
  switch (view_.dtype) {
    case Dtype::kF16:
      return Write(at, RoundTo<Half>(value));
    case Dtype::kBf16:
      return Write(at, RoundTo<BFloat16>(value));
    case Dtype::kF32:
      return Write(at, static_cast<float>(value));
    case Dtype::kF64:
      return Write(at, value);
    case Dtype::kI32:
      return Write(at, static_cast<int32_t>(value));
    case Dtype::kI64:
      return Write(at, static_cast<int64_t>(value));
    case Dtype::kI8:
      return Write(at, static_cast<int8_t>(value));
    default:
      *at = static_cast<unsigned char>(value);
  }
}

std::vector<double> HostTensor::Values() const {
  std::vector<double> values(positions_.size());
  for (int64_t i = 0; i < size(); ++i) values[static_cast<size_t>(i)] = Get(i);
  return values;
}

void HostTensor::SetAll(const std::function<double(int64_t)>& value) {
  for (int64_t i = 0; i < size(); ++i) Set(i, value(i));
}

void HostTensor::FillNormal(uint64_t seed, double scale) {
  NormalNumbers normal(seed);
  SetAll([&](int64_t) { return normal.Next() * scale; });
}

bool HostTensor::SurroundingsIntact() const {
  std::vector<bool> ours(storage_.size(), false);
  const auto bytes = static_cast<size_t>(DtypeSize(view_.dtype));
  for (const int64_t position : positions_) {
    for (size_t b = 0; b < bytes; ++b)
      ours[offset_ + static_cast<size_t>(position) * bytes + b] = true;
  }
  for (size_t i = 0; i < storage_.size(); ++i) {
    if (!ours[i] && storage_[i] != kPoison) return false;
  }
  return true;
}

}  // namespace reel::kernels
