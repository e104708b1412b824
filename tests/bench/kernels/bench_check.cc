// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/kernels/bench_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/base/float_types.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/kernel_counters.h"

namespace reel::kernels {
namespace {

struct Difference {
  double absolute = 0;
  double steps = 0;  // of the type, at the expected value
  bool pass = true;
};

double ValueAt(const unsigned char* data, Dtype dtype, int64_t index) {
  if (dtype == Dtype::kI8) return static_cast<int8_t>(data[index]);
  if (dtype == Dtype::kU8 || dtype == Dtype::kE4m3) return data[index];  // levels, codes
  return VisitFloating(dtype, [&]<typename T>(T) {
    T value;
    std::memcpy(&value, data + static_cast<size_t>(index) * sizeof(T), sizeof(T));
    return static_cast<double>(ToFloat(value));
  });
}

double StepAt(double value, Dtype dtype) {
  if (DtypeSize(dtype) == 1) return 1;
  const int bits = dtype == Dtype::kF32 ? 23 : (dtype == Dtype::kF16 ? 10 : 7);
  const int least = dtype == Dtype::kF16 ? -14 : -126;
  return std::ldexp(1.0, (value == 0 ? least : std::max(std::ilogb(value), least)) - bits);
}

// One step of a 16-bit type or of a byte; and everywhere the share of the largest output that the
// case allows.
Difference DifferenceOf(const unsigned char* got, const unsigned char* want, Dtype dtype,
                        int64_t count, double tolerance) {
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::abs(ValueAt(want, dtype, i)));
  }
  const double steps = dtype == Dtype::kF32 ? 0 : 1;
  Difference all;
  for (int64_t i = 0; i < count; ++i) {
    const double expected = ValueAt(want, dtype, i);
    const double off = std::abs(ValueAt(got, dtype, i) - expected);
    const double step = StepAt(expected, dtype);
    all.absolute = std::max(all.absolute, off);
    all.steps = std::max(all.steps, off / step);
    all.pass = all.pass && off <= steps * step + tolerance * largest;
  }
  return all;
}

// Every byte equals the one `period` before it.
bool Repeats(const std::vector<unsigned char>& bytes, size_t period) {
  return bytes.size() <= period ||
         std::memcmp(bytes.data() + period, bytes.data(), bytes.size() - period) == 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BenchReference>> BenchReference::Compute(const BenchCase& bench) {
  std::unique_ptr<BenchReference> reference(new BenchReference(bench.tolerance));
  const BenchOp op = bench.make(reference->tensors_, bench.period);
  REEL_RETURN_IF_ERROR(reference->tensors_.status());
  REEL_ASSIGN_OR_RETURN(const KernelPlan plan,
                        reference->cpu_->catalog().Plan("auto", {{bench.op, "loops"}}));
  KernelCounters counters;
  REEL_RETURN_IF_ERROR(op({.plan = plan, .counters = counters, .timer = nullptr, .stream = {}}));
  return reference;
}

absl::StatusOr<nlohmann::json> BenchReference::Compare(BenchDevice& device, const BenchTensors& got,
                                                       bool spoil) const {
  Difference worst;
  for (size_t i = 0; i < got.outputs().size(); ++i) {
    const TensorView& output = got.outputs()[i];
    const TensorView& want = tensors_.outputs()[i];
    const int64_t size = DtypeSize(output.dtype);
    std::vector<unsigned char> bytes(static_cast<size_t>(output.num_elements() * size));
    REEL_RETURN_IF_ERROR(
        device.Read(bytes.data(), output.data, static_cast<int64_t>(bytes.size())));
    if (spoil) bytes[bytes.size() - 1] ^= 0x41;
    const Difference found =
        DifferenceOf(bytes.data(), static_cast<const unsigned char*>(want.data), output.dtype,
                     want.num_elements(), tolerance_);
    worst.absolute = std::max(worst.absolute, found.absolute);
    worst.steps = std::max(worst.steps, found.steps);
    worst.pass =
        worst.pass && found.pass && Repeats(bytes, static_cast<size_t>(want.num_elements() * size));
  }
  return nlohmann::json{
      {"max_abs", worst.absolute}, {"max_ulp", worst.steps}, {"pass", worst.pass}};
}

}  // namespace reel::kernels
