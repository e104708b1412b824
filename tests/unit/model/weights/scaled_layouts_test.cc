// SPDX-License-Identifier: Apache-2.0
#include "model/weights/scaled_layouts.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/weights/quantisation_config.h"
#include "model/weights/weight_set.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Tensors = std::vector<TypedTensor>;

TypedTensor Codes(const std::string& name, const std::string& type = "F8_E4M3") {
  return {name, type, {2, 3}, "\x38\x40\x44\x48\x4a\x4c"};
}
TypedTensor Scale(const std::string& name, const std::vector<float>& values = {0.5f},
                  const std::vector<int64_t>& shape = {}) {
  return {name, "F32", shape, BytesOfFloats(values)};
}
TypedTensor Text(const std::string& name, const std::string& text) {
  return {name, "U8", {static_cast<int64_t>(text.size())}, text};
}

absl::StatusOr<WeightSet> Open(const Tensors& tensors, const json& metadata = nullptr) {
  const reel::testing::TempFolder folder;
  return WeightSet::OpenFile(folder.Write("f.safetensors", SafetensorsOfTypes(tensors, metadata)));
}

std::string Refusal(const Tensors& tensors, const json& metadata = nullptr) {
  const auto set = Open(tensors, metadata);
  EXPECT_EQ(set.status().code(), absl::StatusCode::kFailedPrecondition) << set.status();
  const std::string message(set.status().message());
  EXPECT_THAT(message, HasSubstr("f.safetensors"));
  return message;
}

const TypedTensor kPlain = {"norm.weight", "BF16", {1}, std::string(2, '\0')};
const std::string kE4m3 = R"({"format": "float8_e4m3fn"})";

struct Good {
  std::string what;
  Tensors tensors;
  ScaledLayout layout;
  TensorType type = TensorType::kF8E4M3;
  std::vector<float> scales = {0.5f};
  json metadata = nullptr;
};

void PrintTo(const Good& good, std::ostream* out) { *out << good.what; }

class EveryLayout : public ::testing::TestWithParam<Good> {};

TEST_P(EveryLayout, LeavesWeightsWithTheirScalesAlone) {
  Tensors tensors = GetParam().tensors;
  tensors.push_back(kPlain);
  const auto set = Open(tensors, GetParam().metadata);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->layout(), GetParam().layout);
  EXPECT_EQ(set->tensors().size(), 2u);
  EXPECT_THAT(set->Find("norm.weight")->scales, IsEmpty());
  for (const auto& [name, tensor] : set->tensors()) {
    if (name == "norm.weight") continue;
    EXPECT_TRUE(name.ends_with("a.weight")) << name;
    EXPECT_EQ(tensor.type(), GetParam().type);
    EXPECT_EQ(tensor.scales, GetParam().scales);
    EXPECT_EQ(tensor.divisor, GetParam().layout == ScaledLayout::kBitsandbytes8 ? 127 : 1);
  }
}

const std::string kPrefix = "model.diffusion_model.";

INSTANTIATE_TEST_SUITE_P(
    All, EveryLayout,
    ::testing::Values(
        Good{"plain casts", {Codes("a.weight")}, ScaledLayout::kNone, TensorType::kF8E4M3, {}},
        Good{"modelopt",
             {Codes("a.weight"), Scale("a.weight_scale"), Scale("a.input_scale")},
             ScaledLayout::kModelopt},
        Good{"rows",
             {Codes("a.weight"), Scale("a.weight_scale", {1, 2}, {2, 1})},
             ScaledLayout::kModelopt,
             TensorType::kF8E4M3,
             {1, 2}},
        Good{"marked",
             {Codes(kPrefix + "a.weight"),
              Scale(kPrefix + "a.scale_weight", {0.5f}, {1}),
              Scale(kPrefix + "a.scale_input", {1}),
              {kPrefix + "scaled_fp8", "F8_E4M3", {0}, ""}},
             ScaledLayout::kComfyMarked},
        Good{"marked in fp32, without a prefix",
             {Codes("a.weight"), Scale("a.scale_weight"), Scale("scaled_fp8", {0, 0}, {2})},
             ScaledLayout::kComfyMarked},
        Good{"marked as E5M2",
             {Codes("a.weight", "F8_E5M2"),
              Scale("a.scale_weight"),
              {"scaled_fp8", "F8_E5M2", {2}, std::string(2, '\0')}},
             ScaledLayout::kComfyMarked,
             TensorType::kF8E5M2},
        Good{"by layer",
             {Codes("a.weight"), Scale("a.weight_scale"), Text("a.comfy_quant", kE4m3)},
             ScaledLayout::kComfyByLayer},
        Good{"by layer, codes as bytes",
             {Codes("a.weight", "U8"), Scale("a.weight_scale"),
              Text("a.comfy_quant",
                   R"({"format": "float8_e5m2", "full_precision_matrix_mult": true})")},
             ScaledLayout::kComfyByLayer,
             TensorType::kF8E5M2},
        Good{"by layer, integers",
             {Codes("a.weight", "I8"), Scale("a.weight_scale"),
              Text("a.comfy_quant", R"({"format": "int8_tensorwise"})")},
             ScaledLayout::kComfyByLayer,
             TensorType::kI8},
        Good{"by a list without the prefix",
             {Codes(kPrefix + "a.weight"), Scale(kPrefix + "a.weight_scale")},
             ScaledLayout::kComfyByLayer,
             TensorType::kF8E4M3,
             {0.5f},
             {{"_quantization_metadata",
               R"({"format_version": "1.0", "layers": {"a": {"format": "float8_e4m3fn"}}})"}}},
        Good{"quanto",
             {Codes("a.weight._data", "I8"), Scale("a.weight._scale", {1, 2}, {2, 1}),
              Scale("a.input_scale", {1}), Scale("a.output_scale", {1})},
             ScaledLayout::kQuanto,
             TensorType::kI8,
             {1, 2}},
        Good{"quanto in 16 bits",
             {Codes("a.weight._data"), {"a.weight._scale", "BF16", {}, {"\x00\x3f", 2}}},
             ScaledLayout::kQuanto},
        Good{"bitsandbytes",
             {Codes("a.weight", "I8"),
              Scale("a.SCB", {3, 4}, {2}),
              {"a.weight_format", "U8", {}, {"\0", 1}}},
             ScaledLayout::kBitsandbytes8,
             TensorType::kI8,
             {3, 4}}));

TEST(ScaledLayouts, LeaveNamesWithScaleInThemAlone) {
  const auto set =
      Open({Scale("av_ca_video_scale_shift_adaln_single.linear.weight", {0}),
            Scale("scale_shift_table", {-1}), Scale("prompt_scale_shift_table", {0}),
            Scale("r.per_channel_scale1", {0}), Scale("timestep_scale_multiplier", {0})});
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->tensors().size(), 5u);
}

TEST(ScaledLayouts, RefuseByNameWhatTheyDoNotRead) {
  const auto refused = [](const std::string& name) {
    return Refusal({Codes("a.weight"), Scale(name)});
  };
  EXPECT_THAT(refused("a.weight_scale_2"),
              AllOf(HasSubstr("NVFP4"), HasSubstr("a.weight_scale_2")));
  EXPECT_THAT(refused("a.pre_quant_scale"), HasSubstr("AWQ"));
  EXPECT_THAT(refused("a.bias_scale"), HasSubstr("scaled biases"));
  EXPECT_THAT(refused("a.weight.absmax"), HasSubstr("NF4"));
  EXPECT_THAT(refused("a.weight._shift"), HasSubstr("quanto's 4"));
  EXPECT_THAT(refused("a.weight:qdata"), HasSubstr("torchao"));
  EXPECT_THAT(Refusal({Codes("a.weight._data", "U8"), Scale("a.weight._scale")}),
              HasSubstr("quanto's 4"));
  for (const std::string format : {"nvfp4", "mxfp8", "convrot_w4a4", "svdquant_w4a4", "awq_w4a16",
                                   "asym_w4a8_int8", "float9"}) {
    EXPECT_THAT(Refusal({Codes("a.weight"), Scale("a.weight_scale"),
                         Text("a.comfy_quant", json{{"format", format}}.dump())}),
                HasSubstr(format));
  }
  EXPECT_THAT(Refusal({Codes("a.weight"), Scale("a.weight_scale"),
                       Text("a.comfy_quant", R"({"format":"float8_e4m3fn","convrot":true})")}),
              HasSubstr("convrot"));
  EXPECT_THAT(Refusal({Codes("a.weight"), Scale("a.weight_scale", {1, 1, 1}, {1, 3})}),
              HasSubstr("scales of blocks"));
}

TEST(ScaledLayouts, WantScalesThatAreFiniteAndPositive) {
  for (const float bad : {0.0f, -1.0f, std::numeric_limits<float>::infinity(), std::nanf("")}) {
    EXPECT_THAT(Refusal({Codes("a.weight"), Scale("a.weight_scale", {bad})}),
                HasSubstr("a.weight_scale: a scale must be finite"));
    EXPECT_THAT(
        Refusal({Codes("a.weight"), Scale("a.weight_scale"), Scale("a.input_scale", {bad})}),
        HasSubstr("a.input_scale"));
  }
  EXPECT_THAT(Refusal({Codes("a.weight"), Scale("a.weight_scale", {1, 1, 1}, {3})}),
              HasSubstr("[3]"));
  EXPECT_THAT(Refusal({Codes("a.weight"), Scale("a.weight_scale", {}, {0})}), HasSubstr("[0]"));
  EXPECT_THAT(Refusal({Codes("a.weight"), {"a.weight_scale", "I8", {}, "\x01"}}),
              HasSubstr("must be F32"));
}

TEST(ScaledLayouts, WantACodeForEachScaleAndAScaleForEachCode) {
  const TypedTensor codes = Codes("a.weight"), scale = Scale("a.weight_scale");
  EXPECT_THAT(Refusal({codes, scale, Scale("b.weight_scale")}), HasSubstr("b.weight_scale"));
  EXPECT_THAT(Refusal({codes, scale, Scale("b.input_scale")}), HasSubstr("b.input_scale"));
  EXPECT_THAT(Refusal({codes, scale, Codes("b.weight")}), HasSubstr("b.weight: codes without"));
  EXPECT_THAT(Refusal({codes, Scale("a.scale_weight")}), HasSubstr("a.scale_weight"));
  EXPECT_THAT(Refusal({kPlain, Scale("norm.weight_scale")}), HasSubstr("type BF16"));
  EXPECT_THAT(Refusal({Codes("a.weight", "I8"), scale}), HasSubstr("type I8"));
  EXPECT_THAT(Refusal({Codes("a.weight._data", "I8")}), HasSubstr("a.weight: codes without"));
  EXPECT_THAT(Refusal({kPlain, Scale("a.weight._scale")}), HasSubstr("a.weight._scale"));
  EXPECT_THAT(Refusal({codes, Scale("a.SCB", {1, 1}, {2})}), HasSubstr("type F8_E4M3"));
  EXPECT_THAT(Refusal({codes, scale, Codes("b.weight._data", "I8"), Scale("b.weight._scale")}),
              HasSubstr("two layouts"));
  EXPECT_THAT(Refusal({Codes("a.weight", "I8"),
                       Scale("a.SCB", {1, 1}, {2}),
                       {"a.weight_format", "U8", {}, "\x01"}}),
              HasSubstr("rows (0)"));
}

TEST(ScaledLayouts, TakeNoFormatThatIsNone) {
  const TypedTensor codes = Codes("a.weight"), scale = Scale("a.weight_scale");
  for (const std::string& text :
       {std::string(), std::string("float8"), std::string("[]"), std::string("{\"format\":1}"),
        std::string(1 << 20, '['), std::string("{}"), "{\"a\":" + std::string(4000, '[')}) {
    EXPECT_THAT(Refusal({codes, scale, Text("a.comfy_quant", text)}), HasSubstr("a.comfy_quant"));
  }
  EXPECT_THAT(Refusal({codes, scale, Text("b.comfy_quant", kE4m3)}), HasSubstr("b.comfy_quant"));
  const auto list = [&](const std::string& text) {
    return Refusal({codes, scale}, {{"_quantization_metadata", text}});
  };
  EXPECT_THAT(list("{"), HasSubstr("_quantization_metadata"));
  EXPECT_THAT(list(R"({"layers": []})"), HasSubstr("\"layers\" is missing"));
  EXPECT_THAT(list(R"({"layers": {"gone": {"format": "float8_e4m3fn"}}})"), HasSubstr("gone"));
  EXPECT_THAT(list(R"({"layers": {"a": "float8_e4m3fn"}})"), HasSubstr("JSON object"));
  EXPECT_THAT(
      Refusal({codes, scale, Text("a.comfy_quant", kE4m3)},
              {{"_quantization_metadata", R"({"layers": {"a": {"format": "float8_e5m2"}}})"}}),
      HasSubstr("two formats"));
}

TEST(TakeQuantisationConfig, HoldsItAgainstTheWeights) {
  const auto taken = [](const char* method, ScaledLayout layout) {
    json config = {{"num_layers", 2}, {"quantization_config", {{"quant_method", method}}}};
    const absl::Status status = TakeQuantisationConfig(config, "config.json", layout);
    EXPECT_EQ(config, (json{{"num_layers", 2}}));
    return std::string(status.message());
  };
  EXPECT_EQ(taken("quanto", ScaledLayout::kQuanto), "");
  EXPECT_EQ(taken("bitsandbytes", ScaledLayout::kBitsandbytes8), "");
  EXPECT_EQ(taken("modelopt", ScaledLayout::kModelopt), "");
  EXPECT_THAT(taken("quanto", ScaledLayout::kNone), HasSubstr("\"quanto\""));
  EXPECT_THAT(taken("torchao", ScaledLayout::kModelopt), HasSubstr("\"torchao\""));
  EXPECT_THAT(taken("", ScaledLayout::kNone), HasSubstr("config.json"));
  json none = {{"num_layers", 2}};
  EXPECT_TRUE(TakeQuantisationConfig(none, "config.json", ScaledLayout::kQuanto).ok());
}

}  // namespace
}  // namespace reel::model
