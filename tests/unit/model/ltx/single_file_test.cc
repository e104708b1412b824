// SPDX-License-Identifier: Apache-2.0
// Single-file checkpoints against the folders that they were made of, and broken ones.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx/ltx_pipeline.h"
#include "model/weights/json_file.h"
#include "model/weights/weight_set.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/scaled_codes.h"
#include "tests/fakes/tiny_checkpoint.h"
#include "tests/fakes/tiny_ltx.h"
#include "tests/unit/model/ltx/two_steps.h"

namespace reel::model::ltx {
namespace {

using ::testing::HasSubstr;
using Linears = CheckpointForm::Linears;

// A file without the folder of its parts; text encoder and tokenizer are beside it, if anywhere.
class SingleFile {
 public:
  SingleFile(const TinyFolder& folder, const std::string& version, const CheckpointForm& form = {},
             bool with_text = true) {
    path_ = scratch_.Write("model.safetensors", CheckpointOf(folder.path(), version, form));
    if (!with_text) return;
    for (const char* part : {"/text_encoder", "/tokenizer"}) {
      std::filesystem::copy(folder.path() + part, scratch_.path() + part);
    }
  }
  const std::string& path() const { return path_; }

 private:
  const reel::testing::TempFolder scratch_;
  std::string path_;
};

LoadOptions OptionsFor(const std::string& path, const std::string& text_folder = "") {
  LoadOptions options;
  options.name = "tiny";
  options.path = path;
  options.text_folder = text_folder;
  return options;
}

absl::StatusOr<std::unique_ptr<Pipeline>> Load(const std::string& path,
                                               const std::string& text_folder = "") {
  return LoadLtxPipeline(OptionsFor(path, text_folder), {});
}

std::string ErrorOf(const std::string& path) {
  const auto pipeline = Load(path);
  EXPECT_FALSE(pipeline.ok());
  EXPECT_EQ(CheckLtxModel(OptionsFor(path), {}).status(), pipeline.status());
  return std::string(pipeline.status().message());
}

// The latents after two steps.
std::vector<float> LatentsOf(const std::string& path, const std::string& text_folder = "") {
  const auto pipeline = Load(path, text_folder);
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  if (!pipeline.ok()) return {};
  return LatentsAfterTwoSteps(**pipeline);
}

class Generations : public ::testing::TestWithParam<const char*> {};

TEST_P(Generations, GiveTheLatentsOfTheirFolder) {
  const TinyFolder folder(GetParam());
  const SingleFile file(folder, GetParam());
  EXPECT_EQ((*Load(file.path()))->card().family, (*Load(folder.path()))->card().family);
  EXPECT_EQ((*Load(file.path()))->card().parameters, (*Load(folder.path()))->card().parameters);
  for (const std::string& path : {file.path(), folder.path()}) {
    const auto checked = CheckLtxModel(OptionsFor(path), {});
    ASSERT_TRUE(checked.ok()) << checked.status();
    const ModelCard& loaded = (*Load(path))->card();
    EXPECT_EQ(checked->family, loaded.family);
    EXPECT_EQ(checked->parameters, loaded.parameters);
    EXPECT_EQ(checked->weight_bytes, loaded.weight_bytes);
    EXPECT_EQ(checked->steps_alone, loaded.steps_alone);
  }
  EXPECT_EQ(LatentsOf(file.path()), LatentsOf(folder.path()));
}

TEST_P(Generations, AreWidenedFromEightBits) {
  const TinyFolder folder(GetParam());
  const SingleFile eight(folder, GetParam(), {.linears = Linears::kF8});
  const SingleFile rounded(folder, GetParam(), {.linears = Linears::kF32RoundedToF8});
  EXPECT_EQ(LatentsOf(eight.path()), LatentsOf(rounded.path()));
  EXPECT_NE(LatentsOf(eight.path()), LatentsOf(folder.path()));
}

TEST_P(Generations, AreWidenedFromEightBitsWithScales) {
  const TinyFolder folder(GetParam());
  const SingleFile scaled(folder, GetParam(), {.linears = Linears::kScaledF8});
  const SingleFile rounded(folder, GetParam(), {.linears = Linears::kF32RoundedToScaledF8});
  EXPECT_EQ(LatentsOf(scaled.path()), LatentsOf(rounded.path()));
  EXPECT_EQ((*Load(scaled.path()))->card().parameters, (*Load(folder.path()))->card().parameters);
}

// A folder's transformer as diffusers saves it behind quanto; with `as_codes` false the values that
// its codes stand for.
void StoreByQuanto(const TinyFolder& folder, bool as_codes) {
  const std::string path = folder.path() + "/transformer/diffusion_pytorch_model.safetensors";
  const auto stored = WeightSet::OpenFile(path);
  std::vector<TypedTensor> tensors;
  for (const auto& [name, tensor] : stored->tensors()) {
    const std::vector<int64_t>& shape = tensor.entry->shape;
    std::string bytes(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
    if (shape.size() != 2 || !name.ends_with("to_q.weight")) {
      tensors.push_back({name, "F32", shape, bytes});
      continue;
    }
    at::Tensor values = at::empty(shape, at::kFloat);
    std::memcpy(values.data_ptr(), bytes.data(), bytes.size());
    const ScaledCodes scaled = ScaledCodesOf(values);
    std::memcpy(bytes.data(), scaled.values.data_ptr(), bytes.size());
    if (!as_codes) {
      tensors.push_back({name, "F32", shape, bytes});
      continue;
    }
    const std::string layer = name.substr(0, name.size() - std::string("weight").size());
    tensors.push_back({name + "._data", "F8_E4M3", shape, scaled.codes});
    tensors.push_back({name + "._scale", "F32", {}, BytesOfFloats({scaled.scale})});
    tensors.push_back({layer + "input_scale", "F32", {}, BytesOfFloats({1})});
    tensors.push_back({layer + "output_scale", "F32", {}, BytesOfFloats({1})});
  }
  std::ofstream(path, std::ios::binary) << SafetensorsOfTypes(tensors);
}

TEST(Folder, IsWidenedFromQuantosCodesIfItsConfigurationSaysSo) {
  const TinyFolder codes("0.9.5"), values("0.9.5");
  StoreByQuanto(codes, true);
  StoreByQuanto(values, false);
  EXPECT_EQ(LatentsOf(codes.path()), LatentsOf(values.path()));
  const std::string file = codes.path() + "/transformer/config.json";
  nlohmann::json config = *ReadJsonFile(file);
  config["quantization_config"] = {{"quant_method", "quanto"}};
  std::ofstream(file) << config.dump();
  EXPECT_TRUE(Load(codes.path()).ok());
  config["quantization_config"]["quant_method"] = "bitsandbytes";
  std::ofstream(file) << config.dump();
  EXPECT_THAT(ErrorOf(codes.path()), HasSubstr("quant_method is \"bitsandbytes\""));
}

INSTANTIATE_TEST_SUITE_P(SingleFile, Generations, ::testing::Values("0.9.0", "0.9.1", "0.9.5"));

TEST(SingleFile, TakesTheTextEncoderFromAFolderThatIsNamed) {
  const TinyFolder folder("0.9.5");
  const SingleFile file(folder, "0.9.5", {}, /*with_text=*/false);
  EXPECT_EQ(LatentsOf(file.path(), folder.path()), LatentsOf(folder.path()));
  EXPECT_THAT(ErrorOf(file.path()), HasSubstr("text_folder"));
}

TEST(SingleFile, NamesAMissingTensorAndTheFile) {
  for (const char* version : {"0.9.0", "0.9.1", "0.9.5"}) {
    const TinyFolder folder(version);
    for (const std::string name :
         {"model.diffusion_model.patchify_proj.weight",
          "model.diffusion_model.transformer_blocks.0.attn1.to_v.weight",
          "vae.encoder.conv_in.conv.weight", "vae.decoder.conv_out.conv.bias",
          "vae.encoder.down_blocks.0.res_blocks.0.conv2.conv.weight",
          "vae.per_channel_statistics.std-of-means"}) {
      CheckpointForm form;
      form.keep = [&](const std::string& original) { return original != name; };
      const SingleFile file(folder, version, form);
      const std::string error = ErrorOf(file.path());
      EXPECT_THAT(error, HasSubstr(file.path())) << name;
      EXPECT_THAT(error, HasSubstr("missing")) << name;
    }
  }
}

TEST(SingleFile, NamesATensorTooMany) {
  const TinyFolder folder("0.9.5");
  for (const char* name :
       {"vae.decoder.attention.weight", "model.diffusion_model.audio_proj.weight"}) {
    const SingleFile file(folder, "0.9.5", {.extra = name});
    EXPECT_THAT(ErrorOf(file.path()), HasSubstr(std::string(name).substr(name[0] == 'v' ? 4 : 22)));
  }
  const SingleFile scaled(
      folder, "0.9.5",
      {.linears = Linears::kF8, .extra = "model.diffusion_model.proj_out.weight_scale"});
  EXPECT_THAT(ErrorOf(scaled.path()), HasSubstr("proj_out.weight: a scaled weight of type F32"));
}

TEST(SingleFile, NeedsToKnowItsHeads) {
  const TinyFolder folder("0.9.5");
  const SingleFile file(folder, "0.9.5", {.metadata = false});
  EXPECT_THAT(ErrorOf(file.path()), HasSubstr("num_attention_heads"));
}

TEST(Manifest, IsHeldBeforeAModelIsRead) {
  const TinyFolder folder("0.9.5");
  const SingleFile file(folder, "0.9.5");
  const reel::testing::TempFolder scratch;
  for (const std::string& path : {folder.path(), file.path()}) {
    LoadOptions options;
    options.path = path;
    options.manifest_file =
        scratch.Write("sums", std::string(64, '0') + "  text_encoder/model.safetensors\n");
    const absl::Status status = LoadLtxPipeline(options, {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr("/text_encoder/model.safetensors"));
  }
}

// Of the widths of a release all of its tensors must be there.
TEST(SingleFile, CountsTheTensorsOfARelease) {
  const reel::testing::TempFolder scratch;
  std::vector<NamedShape> tensors = {
      {"model.diffusion_model.patchify_proj.weight", {2048, 2}},
      {"model.diffusion_model.proj_out.weight", {2, 2048}},
      {"model.diffusion_model.caption_projection.linear_1.weight", {2048, 2}}};
  EXPECT_THAT(ErrorOf(scratch.Write("2b.safetensors", SafetensorsOf(tensors))),
              HasSubstr("3 of the 2B transformer, which has 715"));
  tensors[0].shape[0] = 4096;
  tensors.push_back({"model.diffusion_model.transformer_blocks.47.scale_shift_table", {6, 4096}});
  EXPECT_THAT(ErrorOf(scratch.Write("13b.safetensors", SafetensorsOf(tensors))),
              HasSubstr("4 of the 13B transformer, which has 1215"));
}

TEST(SingleFile, RefusesOtherFiles) {
  const reel::testing::TempFolder scratch;
  EXPECT_THAT(ErrorOf(scratch.Write("a.safetensors", SafetensorsOf({{"weight", {1}}}))),
              HasSubstr("not an LTX-Video checkpoint"));
  EXPECT_THAT(ErrorOf(scratch.Write("b.safetensors", "no weights")), HasSubstr("b.safetensors"));
  const TinyFolder folder("0.9.5");
  const std::string whole = CheckpointOf(folder.path(), "0.9.5");
  EXPECT_THAT(ErrorOf(scratch.Write("c.safetensors", whole.substr(0, whole.size() - 5))),
              HasSubstr("c.safetensors"));
}

}  // namespace
}  // namespace reel::model::ltx
