// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/op_test.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/float_types.h"
#include "kernels/dispatch/kernel_variant.h"
#include "tests/unit/kernels/e4m3_codes.h"
#include "tests/unit/kernels/int8_codes.h"

namespace reel::kernels {
namespace {

constexpr Dtype kFloating[] = {Dtype::kF16, Dtype::kBf16, Dtype::kF32};

struct Format {
  int mantissa_bits;
  int min_exponent;  // of the smallest normal
  double largest;
};

Format FormatOf(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF16:
      return {10, -14, 65504};
    case Dtype::kBf16:
      return {7, -126, 3.3895313892515355e38};
    default:
      return {23, -126, static_cast<double>(std::numeric_limits<float>::max())};
  }
}

// By the names that kernel_variant.h gives.
bool IsForE4m3(const OpVariant& variant) {
  return variant.variant == kE4m3Sm80 || variant.variant == kE4m3Sm90;
}
bool IsForInt8(const OpVariant& variant) { return variant.variant == kInt8Sm90; }
bool IsRouted(const OpVariant& variant) { return variant.variant == kRoutedSm90; }

std::vector<OpVariant> AllVariantsOf(const std::string& op) {
  const bool gpu = DeviceUnderTest().stream().device >= 0;
  std::vector<OpVariant> variants;
  const auto all = DeviceUnderTest().catalog().Variants(op);
  const bool has_general = std::any_of(all.begin(), all.end(), [](const CatalogVariant& entry) {
    return entry.variant.name == std::string_view(kGeneralSm80);
  });
  for (const CatalogVariant& entry : all) {
    if ((entry.variant.max_sm == kCpuOnly) == gpu) continue;
    const std::string name = entry.variant.name;
    const bool tuned = name == "sm80" || name == "sm90";
    for (const Dtype dtype : kFloating) {
      variants.push_back({name, dtype, gpu, has_general && tuned});
    }
  }
  return variants;
}

std::vector<OpVariant> VariantsFor(const std::string& op, bool (*is_meant)(const OpVariant&)) {
  std::vector<OpVariant> variants;
  bool has_tuned = DeviceUnderTest().stream().device < 0;
  for (const OpVariant& variant : AllVariantsOf(op)) {
    has_tuned = has_tuned || is_meant(variant);
    if (is_meant(variant) || TakesEverything(variant)) variants.push_back(variant);
  }
  return has_tuned ? variants : std::vector<OpVariant>();
}

// Of the suite that runs: how often a variant was asked, and took the call.
struct Asked {
  int calls = 0;
  int taken = 0;
};
std::map<std::string, Asked>& AskedInSuite() {
  static std::map<std::string, Asked> asked;
  return asked;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const OpVariant& variant) {
  return out << variant.variant << " " << DtypeName(variant.dtype);
}

std::string NameOf(const testing::TestParamInfo<OpVariant>& info) {
  return absl::StrCat(info.param.variant, "_", DtypeName(info.param.dtype));
}

std::vector<OpVariant> VariantsOf(const std::string& op) {
  std::vector<OpVariant> variants;
  for (const OpVariant& variant : AllVariantsOf(op)) {
    const bool is_for_others = IsForE4m3(variant) || IsForInt8(variant) || IsRouted(variant);
    if (!is_for_others) variants.push_back(variant);
  }
  return variants;
}

std::vector<OpVariant> E4m3VariantsOf(const std::string& op) { return VariantsFor(op, IsForE4m3); }
std::vector<OpVariant> Int8VariantsOf(const std::string& op) { return VariantsFor(op, IsForInt8); }
std::vector<OpVariant> RoutedVariantsOf(const std::string& op) { return VariantsFor(op, IsRouted); }

bool TakesEverything(const OpVariant& variant) {
  return variant.variant == "loops" || variant.variant == "generic";
}

ForcedRun::ForcedRun(const std::string& op, const OpVariant& variant)
    : op_(op), variant_(variant), device_(DeviceUnderTest()) {
  auto plan = device_.catalog().Plan("auto", {{op, variant.variant}});
  can_run_ = plan.ok();
  if (can_run_) plan_ = *plan;
}

TensorView ForcedRun::Use(HostTensor& tensor) {
  if (!device_.present()) return tensor.view();
  for (const auto& [known, data] : used_) {
    if (known == &tensor) {
      TensorView view = tensor.view();
      view.data = static_cast<char*>(data) + tensor.data_offset();
      view.device = device_.stream().device;
      return view;
    }
  }
  void* data = device_.Upload(tensor.storage().data(), tensor.storage().size());
  used_.emplace_back(&tensor, data);
  return Use(tensor);
}

void ForcedRun::Fetch() {
  for (const auto& [tensor, data] : used_) {
    device_.Download(tensor->storage().data(), data, tensor->storage().size());
  }
}

Execution ForcedRun::execution() {
  return {.plan = plan_, .counters = counters_, .timer = nullptr, .stream = device_.stream()};
}

int64_t ForcedRun::calls() const {
  for (const VariantUse& use : counters_.Uses()) {
    if (use.op == op_ && use.variant == variant_.variant) return use.calls;
  }
  return 0;
}

Bound BoundFor(Dtype dtype, double c) { return {.ulps = dtype == Dtype::kF32 ? 0.0 : 1.0, .c = c}; }

double UlpOf(double value, Dtype dtype) {
  const Format format = FormatOf(dtype);
  const int exponent =
      value == 0 ? format.min_exponent : std::max(std::ilogb(value), format.min_exponent);
  return std::ldexp(1.0, exponent - format.mantissa_bits);
}

testing::AssertionResult Within(const Bound& bound, double got, double want, double magnitude,
                                Dtype dtype) {
  const double largest = FormatOf(dtype).largest;
  const auto miss = [&](double allowed) {
    return testing::AssertionFailure() << "got " << got << ", want " << want << ", off by "
                                       << std::abs(got - want) << ", allowed " << allowed;
  };
  if (std::isnan(want) || std::isnan(got)) {
    return std::isnan(want) && std::isnan(got) ? testing::AssertionSuccess() : miss(0);
  }
  // Below the normal numbers fp32 has steps of its own, whatever the terms.
  const double steps = bound.ulps * UlpOf(want, dtype) + (dtype == Dtype::kF32 ? 0x1p-149 : 0);
  const double allowed = steps + bound.c * 0x1p-24 * magnitude;
  if (std::isinf(want) || std::isinf(got)) {
    // Near the largest value either side of the last rounding is right.
    if (got == want) return testing::AssertionSuccess();
    const bool both_large = std::abs(want) + UlpOf(largest, dtype) > largest &&
                            std::abs(got) >= largest && (got < 0) == (want < 0);
    return both_large ? testing::AssertionSuccess() : miss(0);
  }
  return std::abs(got - want) <= allowed ? testing::AssertionSuccess() : miss(allowed);
}

testing::AssertionResult AllWithin(const Bound& bound, const Expected& expected) {
  const HostTensor& got = *expected.output;
  if (got.view().dtype == Dtype::kE4m3) return E4m3Within(bound.c, expected);
  if (got.view().dtype == Dtype::kI8) return Int8Within(expected);
  if (static_cast<size_t>(got.size()) != expected.want.size()) {
    return testing::AssertionFailure() << got.size() << " elements, want " << expected.want.size();
  }
  for (size_t i = 0; i < expected.want.size(); ++i) {
    const auto result = Within(bound, got.Get(static_cast<int64_t>(i)), expected.want[i],
                               expected.magnitude[i], got.view().dtype);
    if (!result) return testing::AssertionFailure() << "element " << i << ": " << result.message();
  }
  return testing::AssertionSuccess();
}

void OpTest::SetUp() {
  if (!DeviceUnderTest().present()) GTEST_SKIP() << "SKIPPED: this machine has no CUDA device";
}

void OpTest::TearDown() {
  if (HasFailure() && !refusal_.ok()) ADD_FAILURE() << "The variant refused a call: " << refusal_;
}

void OpTest::TearDownTestSuite() {
  for (const auto& [variant, asked] : std::exchange(AskedInSuite(), {})) {
    EXPECT_TRUE(asked.calls == 0 || asked.taken > 0)
        << "no call of this suite was one that the variant takes: " << variant;
  }
}

bool OpTest::Matches(OpCase& call, const Bound& bound) {
  ForcedRun run(op_, GetParam());
  const absl::Status status = call.Call(run);
  Asked& asked = AskedInSuite()[GetParam().variant];
  if (run.can_run()) ++asked.calls;
  if (status.ok()) ++asked.taken;
  if (status.code() == absl::StatusCode::kFailedPrecondition && !TakesEverything(GetParam())) {
    refusal_ = status;
    return false;
  }
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(run.calls(), 1);
  run.Fetch();
  for (const Expected& expected : call.Reference()) {
    EXPECT_TRUE(AllWithin(bound, expected));
    EXPECT_TRUE(expected.output->SurroundingsIntact());
  }
  return true;
}

void RefusalTest::SetUp() {
  if (DeviceUnderTest().stream().device >= 0) GTEST_SKIP() << "SKIPPED: the CPU test covers this";
}

void RefusalTest::ExpectRefused(const std::function<absl::Status()>& call, const HostTensor& output,
                                absl::StatusCode code, const std::string& text) {
  const auto before = output.Snapshot();
  EXPECT_THAT(call(), StatusIs(code, text));
  EXPECT_EQ(output.Snapshot(), before);
  EXPECT_EQ(run.calls(), 0);
}

testing::AssertionResult SameBits(const HostTensor& a, const HostTensor& b) {
  for (int64_t i = 0; i < a.size(); ++i) {
    const double left = a.Get(i);
    const double right = b.Get(i);
    const bool both_nan = std::isnan(left) && std::isnan(right);
    if (!both_nan && std::memcmp(&left, &right, sizeof(left)) != 0) {
      return testing::AssertionFailure() << "element " << i << ": " << left << " and " << right;
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace reel::kernels
