// SPDX-License-Identifier: Apache-2.0
// Adapters that cannot be used are refused with file, key and reason, and hostile files without
// harm.
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/adapters/adapter_family.h"
#include "model/adapters/adapter_file.h"
#include "tests/unit/model/adapters/example_adapter.h"

namespace reel::model {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class AdapterRefusals : public ::testing::Test {
 protected:
  // Of the file, its layers or its values: whatever comes first.
  std::string Refusal(const std::vector<TypedTensor>& tensors,
                      const nlohmann::json& metadata = nullptr) const {
    const auto adapter = folder_.Open(tensors, metadata);
    if (!adapter.ok()) return Text(adapter.status());
    const auto layers = adapter->LayersIn(ExampleModel());
    return Text(layers.ok() ? adapter->CheckValues().status() : layers.status());
  }
  static std::string Text(const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    return std::string(status.message());
  }
  static auto Names(const std::string& key, const char* rule) {
    return AllOf(HasSubstr("adapter.safetensors"), HasSubstr(key), HasSubstr(rule));
  }

  const AdapterFolder folder_;
  const std::string query_ = kQuery, down_ = query_ + ".lora_A.weight",
                    up_ = query_ + ".lora_B.weight";
};

TEST_F(AdapterRefusals, OfHalfAPair) {
  EXPECT_THAT(Refusal({DownOf(down_)}), Names(down_, "up (B), is missing"));
  EXPECT_THAT(Refusal({UpOf(up_)}), Names(up_, "down (A), is missing"));
  const TypedTensor alpha = {query_ + ".alpha", "F32", {}, BytesOfFloats({1})};
  EXPECT_THAT(Refusal({alpha}), Names(alpha.name, "without its matrices"));
  EXPECT_THAT(Refusal({}, {{"format", "pt"}}), HasSubstr("no pair"));
}

TEST_F(AdapterRefusals, OfRanks) {
  EXPECT_THAT(Refusal({DownOf(down_), {up_, "F32", {kOut, 3}, SomeFloats(kOut * 3, 1)}}),
              Names(down_, "its rank is 2, that of its other matrix 3"));
  EXPECT_THAT(Refusal({{down_, "F32", {0, kIn}, ""}, {up_, "F32", {kOut, 0}, ""}}),
              Names(down_, "its rank is 0"));
  EXPECT_THAT(Refusal({{down_, "F32", {4096, 1}, SomeFloats(4096, 1)},
                       {up_, "F32", {1, 4096}, SomeFloats(4096, 1)}}),
              Names(down_, "its rank is 4096, not 1 to 1024"));
}

TEST_F(AdapterRefusals, OfShapesAndTypes) {
  EXPECT_THAT(Refusal({{down_, "F32", {kRank, 8}, SomeFloats(kRank * 8, 1)}, UpOf(up_)}),
              Names(down_, "its layer is [6,8], the model's is [6,4]"));
  EXPECT_THAT(Refusal({{down_, "F32", {kRank, kIn, 1}, SomeFloats(kRank * kIn, 1)}, UpOf(up_)}),
              Names(down_, "not that of a matrix"));
  EXPECT_THAT(Refusal({{down_, "F32", {kRank, 1, 2, 2}, SomeFloats(kRank * 4, 1)}, UpOf(up_)}),
              Names(down_, "not that of a matrix"));
  EXPECT_THAT(
      Refusal({{down_, "F8_E4M3", {kRank, kIn}, std::string(kRank * kIn, '\x38')}, UpOf(up_)}),
      Names(down_, "its type is F8_E4M3"));
}

TEST_F(AdapterRefusals, OfLayersThatTheModelHasNot) {
  EXPECT_THAT(Refusal(PairOf("transformer_blocks.9.attn1.to_q")),
              Names("transformer_blocks.9.attn1.to_q.lora_A.weight", "no such layer"));
  EXPECT_THAT(Refusal(PairOf("transformer_blocks.0.audio_attn1.to_q")),
              AllOf(HasSubstr("no such layer"), HasSubstr("LTX-2")));
  EXPECT_THAT(Refusal(PairOf("transformer_blocks.0.attn1.to_gate_logits")), HasSubstr("LTX-2 22B"));
  const TypedTensor wide = {down_, "F32", {kRank, 4096}, SomeFloats(kRank * 4096, 1)};
  EXPECT_THAT(Refusal({wide, UpOf(up_)}), HasSubstr("LTX-Video 13B, or the pictures of LTX-2"));
}

TEST_F(AdapterRefusals, OfTwoPairsForOneLayer) {
  std::vector<TypedTensor> both = PairOf("proj_in");
  for (const TypedTensor& tensor : PairOf("patchify_proj")) both.push_back(tensor);
  EXPECT_THAT(Refusal(both), HasSubstr("a second pair for the layer proj_in"));
  EXPECT_THAT(Refusal({DownOf(down_), UpOf(up_), DownOf(query_ + ".lora_down.weight")}),
              HasSubstr("it is the same as"));
}

TEST_F(AdapterRefusals, OfTwoPrefixesOrTwoAdapters) {
  std::vector<TypedTensor> both = PairOf("transformer.proj_in");
  for (const TypedTensor& tensor : PairOf("diffusion_model." + query_)) both.push_back(tensor);
  EXPECT_THAT(Refusal(both), HasSubstr("its prefix is"));
  EXPECT_THAT(Refusal({DownOf(query_ + ".lora_A.one.weight"), UpOf(query_ + ".lora_B.two.weight")}),
              HasSubstr("two names"));
}

TEST_F(AdapterRefusals, OfNumbersThatAreNotFinite) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const float bad : {kInf, -kInf, std::nanf("")}) {
    for (const size_t which : {0U, 1U}) {
      std::vector<TypedTensor> tensors = PairOf(query_);
      const std::string bytes = BytesOfFloats({bad});
      tensors[which].bytes.replace(tensors[which].bytes.size() - 4, 4, bytes);
      EXPECT_THAT(Refusal(tensors), Names(tensors[which].name, "NaN or Inf"));
    }
    std::vector<TypedTensor> tensors = PairOf(query_);
    tensors.push_back({query_ + ".alpha", "F32", {}, BytesOfFloats({bad})});
    EXPECT_THAT(Refusal(tensors), Names(query_ + ".alpha", "must be finite"));
  }
  const std::string half_inf("\x00\x7c", 2), bf16_nan("\xc0\x7f", 2);
  for (const auto& [type, value] : {std::pair{"F16", half_inf}, std::pair{"BF16", bf16_nan}}) {
    std::string bytes;
    for (int64_t i = 0; i < kRank * kIn; ++i) bytes += value;
    EXPECT_THAT(Refusal({{down_, type, {kRank, kIn}, bytes}, UpOf(up_)}), HasSubstr("NaN or Inf"));
  }
}

TEST_F(AdapterRefusals, OfAlphasThatAreNoNumber) {
  for (const TypedTensor& alpha :
       {TypedTensor{query_ + ".alpha", "F32", {2}, BytesOfFloats({1, 1})},
        TypedTensor{query_ + ".alpha", "F32", {0}, ""},
        TypedTensor{query_ + ".alpha", "U8", {}, "x"}}) {
    std::vector<TypedTensor> tensors = PairOf(query_);
    tensors.push_back(alpha);
    EXPECT_THAT(Refusal(tensors), Names(alpha.name, "must be one number"));
  }
}

TEST_F(AdapterRefusals, OfReferenceFactorsOtherThanOneToEight) {
  for (const char* key : {"reference_downscale_factor", "reference_temporal_scale_factor"}) {
    for (const char* bad : {"0", "9", "", "-1", "2.0", " 2", "1e0", "16", "two", "\n"}) {
      EXPECT_THAT(Refusal(PairOf(query_), {{key, bad}}), Names(key, "not 1 to 8")) << bad;
    }
  }
  EXPECT_THAT(Refusal(PairOf(query_), {{"reference_downscale_factor", std::string(1000, '1')}}),
              Names("reference_downscale_factor", "it is \"1111111111111111\""));
}

TEST_F(AdapterRefusals, OfOtherKinds) {
  std::vector<TypedTensor> tensors = PairOf(query_);
  tensors.push_back({query_ + ".dora_scale", "F32", {1}, BytesOfFloats({1})});
  EXPECT_THAT(Refusal(tensors), Names(query_ + ".dora_scale", "DoRA"));
  EXPECT_THAT(Refusal(PairOf("text_encoder.layer")), HasSubstr("text encoders"));
  EXPECT_THAT(Refusal({{"proj_in.weight", "F32", {1}, BytesOfFloats({1})}}),
              HasSubstr("not a part of an adapter"));
}

TEST_F(AdapterRefusals, OfFilesThatAreNone) {
  const auto open = [&](const std::string& bytes) {
    return Text(AdapterFile::Open(folder_.folder().Write("adapter.safetensors", bytes)).status());
  };
  EXPECT_THAT(open("PK\x03\x04 and so on"), HasSubstr("pickled"));
  EXPECT_THAT(open(std::string("\x80\x02}q\x00.", 6)), HasSubstr("pickled"));
  EXPECT_THAT(open("short"), HasSubstr("too short"));
  EXPECT_EQ(AdapterFile::Open("/nowhere/a.safetensors").status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(AdapterRefusals, OfAFileOfMoreThan16Gib) {
  const int64_t side = int64_t{1} << 16;
  const std::string path = folder_.folder().Write(
      "adapter.safetensors",
      SafetensorsBytes(nlohmann::json({{up_,
                                        {{"dtype", "F32"},
                                         {"shape", {side, side + 1}},
                                         {"data_offsets", {0, 4 * side * (side + 1)}}}}})
                           .dump(),
                       ""));
  std::error_code error;
  std::filesystem::resize_file(
      path, std::filesystem::file_size(path) + static_cast<uintmax_t>(4 * side * (side + 1)),
      error);
  if (error) GTEST_SKIP() << "SKIPPED: no file with holes of 16 GiB here";
  EXPECT_THAT(Text(AdapterFile::Open(path).status()), HasSubstr("16 GiB"));
}

TEST_F(AdapterRefusals, EscapeAndCutKeys) {
  const std::string key = "a\x1b[31m" + std::string(400, 'x');
  const std::string refusal = Refusal({{key, "F32", {1}, BytesOfFloats({1})}});
  EXPECT_EQ(refusal.find('\x1b'), std::string::npos);
  EXPECT_THAT(refusal, HasSubstr("a\\x1b[31m"));
  EXPECT_LT(refusal.size(), 400U);
}

TEST_F(AdapterRefusals, OfSettingsThatAreNoJson) {
  for (const std::string& text : {std::string("no"), std::string("[]"), std::string(1 << 20, '['),
                                  std::string(R"({"lora_alpha": 1e999})")}) {
    EXPECT_THAT(Refusal(PairOf(query_), {{"lora_adapter_metadata", text}}),
                HasSubstr("lora_adapter_metadata"))
        << text.substr(0, 40);
  }
}

// Whatever a beginning or a changed byte makes of a file, it is read or refused, as ASan sees.
TEST_F(AdapterRefusals, OfDamagedFilesDoNoHarm) {
  std::vector<TypedTensor> tensors = PairOf("transformer." + query_);
  tensors.push_back({"transformer." + query_ + ".alpha", "F32", {}, BytesOfFloats({2})});
  const std::string whole =
      SafetensorsOfTypes(tensors, {{"lora_adapter_metadata", R"({"transformer.r": 2})"}});
  const auto try_to_use = [&](const std::string& bytes) {
    const auto adapter = AdapterFile::Open(folder_.folder().Write("adapter.safetensors", bytes));
    if (!adapter.ok()) return false;
    EXPECT_FALSE(adapter->pairs().empty());
    return adapter->LayersIn(ExampleModel()).ok() && adapter->CheckValues().ok();
  };
  EXPECT_TRUE(try_to_use(whole));
  for (size_t length = 1; length < whole.size(); ++length) {
    EXPECT_FALSE(try_to_use(whole.substr(0, length))) << length;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x24);
    try_to_use(changed);
  }
}

TEST_F(AdapterRefusals, OfAnotherFamilyByTheMetadata) {
  const auto check = [&](const char* key, const char* says, AdapterFamily family) {
    const auto adapter = folder_.Open(PairOf(query_), {{key, says}});
    EXPECT_TRUE(adapter.ok()) << adapter.status();
    return CheckFamily(adapter->file(), family);
  };
  constexpr char kArchitecture[] = "modelspec.architecture", kBase[] = "ss_base_model_version";
  for (const char* says : {"LTX2", "ltx-2", "ltx-2.3", "ltxav"}) {
    EXPECT_TRUE(check(kBase, says, AdapterFamily::kLtx2).ok()) << says;
    EXPECT_THAT(Text(check(kBase, says, AdapterFamily::kLtxVideo)), Names(kBase, "for LTX-2"));
  }
  for (const char* says : {"ltxv", "LTX-Video", "ltx-2b-0.9.6", "ltxv-13b"}) {
    EXPECT_TRUE(check(kArchitecture, says, AdapterFamily::kLtxVideo).ok()) << says;
    EXPECT_THAT(Text(check(kArchitecture, says, AdapterFamily::kLtx2)),
                Names(kArchitecture, "for LTX-Video"));
  }
  EXPECT_TRUE(check(kArchitecture, "", AdapterFamily::kLtx2).ok());
}

}  // namespace
}  // namespace reel::model
