// SPDX-License-Identifier: Apache-2.0
// Compares layers' weights from stored codes with libtorch's own conversions.
#include "model/layers/weights.h"

#include <ATen/ops/randint.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/layers/linear.h"
#include "tests/fakes/gguf_bytes.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kRows = 48, kColumns = 257;

std::string BytesOf(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()};
}

// Every finite code, in any order.
at::Tensor CodesOf(at::ScalarType type) {
  const at::Tensor bytes =
      at::randint(0, 256, {kRows, kColumns}, at::TensorOptions(at::kByte)).contiguous();
  for (uint8_t* byte = bytes.data_ptr<uint8_t>(); byte != bytes.data_ptr<uint8_t>() + bytes.numel();
       ++byte) {
    if (type == at::kFloat8_e4m3fn && (*byte & 0x7f) == 0x7f) *byte = 0x7e;
    if (type == at::kFloat8_e5m2 && (*byte & 0x7f) >= 0x7c) *byte = 0x7b;
  }
  return bytes.view(type);
}

std::string NameOfType(at::ScalarType type) {
  if (type == at::kFloat8_e4m3fn) return "F8_E4M3";
  return type == at::kFloat8_e5m2 ? "F8_E5M2" : "I8";
}

at::Tensor RandomScales(std::vector<int64_t> shape) { return at::randn(shape).abs() * 0.01 + 1e-4; }

// A weight of `type`, stored under the names of a layout.
struct Layout {
  std::string what;
  at::ScalarType type;
  std::string codes, scale;  // their names; no scale: plain casts
  std::vector<int64_t> shape = {};
  std::vector<TypedTensor> beside = {};
  std::string stored_type = {};  // if not the codes' own
  double divisor = 1;
};

void PrintTo(const Layout& layout, std::ostream* out) { *out << layout.what; }

class Codes : public ::testing::TestWithParam<Layout> {
 protected:
  absl::StatusOr<WeightSet> Write(const at::Tensor& codes, const at::Tensor& scale) const {
    const Layout& layout = GetParam();
    std::vector<TypedTensor> tensors = layout.beside;
    const std::string type =
        layout.stored_type.empty() ? NameOfType(layout.type) : layout.stored_type;
    tensors.push_back({layout.codes, type, {kRows, kColumns}, BytesOf(codes)});
    if (!layout.scale.empty()) {
      tensors.push_back({layout.scale, "F32", layout.shape, BytesOf(scale)});
    }
    return WeightSet::OpenFile(folder_.Write("f.safetensors", SafetensorsOfTypes(tensors)));
  }

 private:
  const reel::testing::TempFolder folder_;
};

TEST_P(Codes, AreWidenedToTheirProductRoundedOnceToBf16) {
  const Layout& layout = GetParam();
  const at::Tensor codes = CodesOf(layout.type), scale = RandomScales(layout.shape);
  const auto set = Write(codes, scale);
  ASSERT_TRUE(set.ok()) << set.status();
  at::Tensor expected = codes.to(at::kFloat);
  if (!layout.scale.empty()) {
    const at::Tensor by_row = scale.numel() == 1 ? scale.view({1, 1}) : scale.view({kRows, 1});
    expected = (expected * by_row / layout.divisor).to(at::kBFloat16);
  }
  for (const at::ScalarType dtype : {at::kBFloat16, at::kFloat, at::kHalf}) {
    Weights weights(*set, dtype, at::kCPU);
    const at::Tensor values = weights.Take("a.weight", {kRows, kColumns});
    ASSERT_TRUE(weights.Finish().ok()) << weights.Finish();
    EXPECT_TRUE(values.equal(expected.to(dtype))) << values.dtype();
  }
}

// Where codes are held, those of e4m3 are the file's, and all others are widened as ever.
TEST_P(Codes, OfE4m3StandInThePlaceOfWeights) {
  const Layout& layout = GetParam();
  const auto set = Write(CodesOf(layout.type), RandomScales(layout.shape));
  ASSERT_TRUE(set.ok()) << set.status();
  const bool is_e4m3 = layout.type == at::kFloat8_e4m3fn;
  for (const at::ScalarType dtype : {at::kBFloat16, at::kFloat, at::kHalf}) {
    Weights plain(*set, dtype, at::kCPU), held(*set, dtype, at::kCPU);
    held.HoldCodes(true);
    Linear layer = TakeLinear(held, "a", kColumns, kRows, false);
    ASSERT_TRUE(held.Finish().ok()) << held.Finish();
    EXPECT_EQ(layer.weight.defined(), !is_e4m3);
    EXPECT_EQ(held.parameters(), kRows * kColumns);
    EXPECT_TRUE(layer.Values().equal(plain.Take("a.weight", {kRows, kColumns})));
    int64_t bytes = 0;
    VisitTensors(layer, [&bytes](at::Tensor& tensor) { bytes += tensor.nbytes(); });
    EXPECT_EQ(bytes, is_e4m3 ? kRows * kColumns + kRows * 4
                             : kRows * kColumns * static_cast<int64_t>(at::elementSize(dtype)));
  }
}

TEST_P(Codes, OfOtherShapesAreRefused) {
  const auto set = Write(CodesOf(GetParam().type), RandomScales(GetParam().shape));
  ASSERT_TRUE(set.ok()) << set.status();
  Weights weights(*set, at::kFloat, at::kCPU);
  weights.Take("a.weight", {kColumns, kRows});
  Weights held(*set, at::kFloat, at::kCPU);
  held.HoldCodes(true);
  TakeLinear(held, "a", kRows, kColumns, false);
  for (const absl::Status& refused : {weights.Finish(), held.Finish()}) {
    EXPECT_THAT(std::string(refused.message()),
                AllOf(HasSubstr("a.weight"), HasSubstr("its shape is [48,257]")));
  }
}

const std::string kE4m3 = R"({"format": "float8_e4m3fn"})";

INSTANTIATE_TEST_SUITE_P(
    OfEveryLayout, Codes,
    ::testing::Values(
        Layout{"plain E4M3", at::kFloat8_e4m3fn, "a.weight", ""},
        Layout{"plain E5M2", at::kFloat8_e5m2, "a.weight", ""},
        Layout{"modelopt", at::kFloat8_e4m3fn, "a.weight", "a.weight_scale"},
        Layout{"modelopt by row", at::kFloat8_e4m3fn, "a.weight", "a.weight_scale", {kRows}},
        Layout{"ComfyUI, older",
               at::kFloat8_e4m3fn,
               "a.weight",
               "a.scale_weight",
               {1},
               {{"scaled_fp8", "F8_E4M3", {0}, ""}}},
        Layout{"ComfyUI, by layer, in bytes",
               at::kFloat8_e4m3fn,
               "a.weight",
               "a.weight_scale",
               {},
               {{"a.comfy_quant", "U8", {static_cast<int64_t>(kE4m3.size())}, kE4m3}},
               "U8"},
        Layout{"quanto int8", at::kChar, "a.weight._data", "a.weight._scale", {kRows, 1}},
        Layout{"quanto E5M2", at::kFloat8_e5m2, "a.weight._data", "a.weight._scale", {kRows, 1}},
        Layout{"bitsandbytes", at::kChar, "a.weight", "a.SCB", {kRows}, {}, {}, 127}));

TEST(Weights, RefuseCodesThatAreNotNumbers) {
  for (const char code : {'\x7f', '\xff'}) {
    const reel::testing::TempFolder folder;
    const std::string path = folder.Write(
        "f.safetensors",
        SafetensorsOfTypes({{"x.weight", "F8_E4M3", {1, 3}, std::string("\x38\x39") + code}}));
    const auto set = WeightSet::OpenFile(path);
    ASSERT_TRUE(set.ok()) << set.status();
    Weights weights(*set, at::kFloat, at::kCPU);
    EXPECT_FALSE(weights.Take("x.weight", {1, 3}).defined());
    Weights held(*set, at::kFloat, at::kCPU);
    held.HoldCodes(true);
    TakeLinear(held, "x", 3, 1, false);
    for (const absl::Status& refused : {weights.Finish(), held.Finish()}) {
      EXPECT_EQ(refused.code(), absl::StatusCode::kDataLoss);
      EXPECT_THAT(std::string(refused.message()), AllOf(HasSubstr(path), HasSubstr("x.weight")));
    }
  }
}

// Q4_0: a scale in f16 and sixteen bytes of codes. The second row's is 1 + 2^-10.
std::string BlocksOfTwoRows(uint16_t second_scale) {
  const std::string codes(16, '\x9a');
  return reel::testing::Bytes(uint16_t{0x3c00}) + codes + reel::testing::Bytes(second_scale) +
         codes;
}

TEST(Weights, RoundGgufsValuesOnceToTheModelsType) {
  const reel::testing::TempFolder folder;
  const auto set = WeightSet::OpenFile(folder.Write(
      "f.gguf", reel::testing::GgufFile({}, {{"x.weight", {2, 32}, 2, BlocksOfTwoRows(0x3c01)}})));
  ASSERT_TRUE(set.ok()) << set.status();
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    Weights weights(*set, dtype, at::kCPU);
    const at::Tensor values = weights.Take("x.weight", {2, 32});
    ASSERT_TRUE(weights.Finish().ok()) << weights.Finish();
    EXPECT_EQ(values[0][0].item<float>(), 2);
    EXPECT_EQ(values[0][31].item<float>(), 1);
    EXPECT_EQ(values[1][0].item<float>(), dtype == at::kFloat ? 2 + 0x1p-9f : 2);
  }
}

TEST(Weights, RefuseBlocksWhoseScaleIsNoNumber) {
  for (const uint16_t scale : {uint16_t{0x7c00}, uint16_t{0xfc00}, uint16_t{0x7e00}}) {
    const reel::testing::TempFolder folder;
    const auto set = WeightSet::OpenFile(folder.Write(
        "f.gguf", reel::testing::GgufFile({}, {{"x.weight", {2, 32}, 2, BlocksOfTwoRows(scale)}})));
    ASSERT_TRUE(set.ok()) << set.status();
    Weights weights(*set, at::kFloat, at::kCPU);
    weights.Take("x.weight", {2, 32});
    EXPECT_EQ(weights.Finish().code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(weights.Finish().message()), HasSubstr("x.weight"));
  }
}

TEST(Weights, TakeNoIntegersWithoutAScale) {
  const reel::testing::TempFolder folder;
  const auto set =
      WeightSet::OpenFile(folder.Write("f", SafetensorsOfTypes({{"x.weight", "I8", {1}, "\x01"}})));
  ASSERT_TRUE(set.ok()) << set.status();
  Weights weights(*set, at::kFloat, at::kCPU);
  weights.Take("x.weight", {1});
  EXPECT_THAT(std::string(weights.Finish().message()), HasSubstr("its type is I8"));
}

// Longer than what is widened at once.
TEST(Weights, WidenLargeTensorsWithoutASeam) {
  const reel::testing::TempFolder folder;
  const int64_t rows = 3, width = (int64_t{1} << 23) + 5;
  std::string codes(static_cast<size_t>(rows * width), '\x38');  // ones
  codes[static_cast<size_t>(2 * width)] = '\x40';                // a two
  const auto set = WeightSet::OpenFile(folder.Write(
      "f", SafetensorsOfTypes({{"x.weight", "F8_E4M3", {rows, width}, codes},
                               {"x.weight_scale", "F32", {rows}, BytesOfFloats({1, 2, 4})}})));
  ASSERT_TRUE(set.ok()) << set.status();
  Weights weights(*set, at::kBFloat16, at::kCPU);
  const at::Tensor values = weights.Take("x.weight", {rows, width}).to(at::kFloat);
  ASSERT_TRUE(weights.Finish().ok()) << weights.Finish();
  EXPECT_TRUE(values[0].eq(1).all().item<bool>());
  EXPECT_TRUE(values[1].eq(2).all().item<bool>());
  EXPECT_EQ(values[2][0].item<float>(), 8);
  EXPECT_TRUE(values[2].slice(0, 1).eq(4).all().item<bool>());
}

}  // namespace
}  // namespace reel::model
