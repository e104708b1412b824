// SPDX-License-Identifier: Apache-2.0
// Models that are loaded with adapters: the same video in every spelling and over every form of the
// weights, and refusals.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/base/digest/sha256.h"
#include "model/adapters/linear_table.h"
#include "model/ltx/checkpoint_names.h"
#include "model/ltx/ltx_pipeline.h"
#include "model/weights/json_file.h"
#include "model/weights/weight_set.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/gguf_weights.h"
#include "tests/fakes/tiny_checkpoint.h"
#include "tests/fakes/tiny_ltx.h"
#include "tests/unit/model/ltx/two_steps.h"

namespace reel::model::ltx {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kAdaptedVersion[] = "0.9.5";
constexpr int64_t kAdapterRank = 3;

// The names of a pair for a layer: down and up.
using PairNames = std::function<std::pair<std::string, std::string>(const std::string&)>;

std::pair<std::string, std::string> PeftNames(const std::string& layer) {
  return {"transformer." + layer + ".lora_A.weight", "transformer." + layer + ".lora_B.weight"};
}
std::pair<std::string, std::string> ComfyNames(const std::string& layer) {
  const std::string stem = "diffusion_model." + OriginalLinearName(layer);
  return {stem + ".lora_A.weight", stem + ".lora_B.weight"};
}
std::pair<std::string, std::string> KohyaNames(const std::string& layer) {
  std::string stem = OriginalLinearName(layer);
  std::replace(stem.begin(), stem.end(), '.', '_');
  return {"lora_unet_" + stem + ".lora_down.weight", "lora_unet_" + stem + ".lora_up.weight"};
}

// Small values that look random, the same for each run.
std::string Scattered(int64_t count, uint32_t& state) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    values.push_back(static_cast<float>(state >> 8) * 0x1p-25f - 0.25f);
  }
  return BytesOfFloats(values);
}

class Adapted : public ::testing::Test {
 protected:
  Adapted() : folder_(kAdaptedVersion) { plain_.path = folder_.path(); }

  WeightSet TransformerWeights() const {
    return *WeightSet::OpenFolder(folder_.path() + "/transformer", "diffusion_pytorch_model");
  }
  // Pairs for each linear layer of the transformer.
  std::string WriteAdapter(const std::string& name, const PairNames& names) const {
    std::vector<TypedTensor> tensors;
    uint32_t state = 1;
    const WeightSet weights = TransformerWeights();
    for (const auto& [weight, stored] : weights.tensors()) {
      const std::vector<int64_t>& shape = stored.entry->shape;
      if (shape.size() != 2 || !weight.ends_with(".weight")) continue;
      const auto [down, up] =
          names(weight.substr(0, weight.size() - std::string(".weight").size()));
      tensors.push_back(
          {down, "F32", {kAdapterRank, shape[1]}, Scattered(kAdapterRank * shape[1], state)});
      tensors.push_back(
          {up, "F32", {shape[0], kAdapterRank}, Scattered(kAdapterRank * shape[0], state)});
    }
    EXPECT_GT(tensors.size(), 40U);
    return scratch_.Write(name, SafetensorsOfTypes(tensors));
  }
  static LoadOptions With(LoadOptions options, const std::string& file, double scale = 0.5) {
    options.adapters.push_back({"style", file, scale});
    return options;
  }
  static std::vector<float> VideoOf(const LoadOptions& options) {
    const auto pipeline = LoadLtxPipeline(options, {});
    EXPECT_TRUE(pipeline.ok()) << pipeline.status();
    return pipeline.ok() ? LatentsAfterTwoSteps(**pipeline) : std::vector<float>();
  }
  static std::string RefusalOf(const LoadOptions& options) {
    const absl::Status status = LoadLtxPipeline(options, {}).status();
    EXPECT_EQ(CheckLtxModel(options, {}).status(), status);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    return std::string(status.message());
  }
  // A single file of the same model.
  LoadOptions File(CheckpointForm::Linears linears) const {
    LoadOptions options;
    options.path = scratch_.Write(
        "model.safetensors", CheckpointOf(folder_.path(), kAdaptedVersion, {.linears = linears}));
    options.text_folder = folder_.path();
    return options;
  }

  const TinyFolder folder_;
  const reel::testing::TempFolder scratch_;
  LoadOptions plain_;
};

TEST_F(Adapted, ModelsMakeTheSameVideoInEverySpelling) {
  const std::vector<float> video = VideoOf(With(plain_, WriteAdapter("peft", PeftNames)));
  EXPECT_NE(video, VideoOf(plain_));
  EXPECT_EQ(VideoOf(With(plain_, WriteAdapter("comfy", ComfyNames))), video);
  EXPECT_EQ(VideoOf(With(plain_, WriteAdapter("kohya", KohyaNames))), video);
}

TEST_F(Adapted, ModelsDependOnTheScale) {
  const std::string file = WriteAdapter("a", PeftNames);
  EXPECT_NE(VideoOf(With(plain_, file, 0.5)), VideoOf(With(plain_, file, 0.25)));
  EXPECT_EQ(VideoOf(With(plain_, file, 0)), VideoOf(plain_));
}

// The values of the codes are the weights that the adapter is added to.
TEST_F(Adapted, ModelsInEightBitsAreThoseOfTheirValues) {
  using enum CheckpointForm::Linears;
  const std::string file = WriteAdapter("a", PeftNames);
  for (const auto& [codes, values] :
       {std::pair(kScaledF8, kF32RoundedToScaledF8), std::pair(kF8, kF32RoundedToF8)}) {
    const std::vector<float> in_codes = VideoOf(With(File(codes), file));
    EXPECT_EQ(in_codes, VideoOf(With(File(values), file)));
    EXPECT_NE(in_codes, VideoOf(File(values)));
  }
}

TEST_F(Adapted, ModelsMayHaveTheirTransformerAsGguf) {
  const std::string file = WriteAdapter("a", PeftNames);
  const std::vector<float> video = VideoOf(With(plain_, file));
  const auto tensors = reel::testing::GgufTensorsOf(
      TransformerWeights(), [](const std::string& name) { return std::optional(name); });
  const std::string gguf = scratch_.Write(
      "t.gguf",
      reel::testing::GgufFile({reel::testing::GgufPair("general.architecture", "ltxv")}, tensors));
  std::filesystem::remove(folder_.path() + "/transformer/diffusion_pytorch_model.safetensors");
  LoadOptions options = plain_;
  options.parts = {{ModelPart::kTransformer, gguf}};
  EXPECT_EQ(VideoOf(With(options, file)), video);
}

TEST_F(Adapted, ModelsSayWhichAdaptersTheyHave) {
  const std::string file = WriteAdapter("a", PeftNames);
  const FixedAdapter expected = {"style", "", 0.5, Sha256Hex(scratch_.Read("a"))};
  const auto checked = CheckLtxModel(With(plain_, file), {});
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_THAT(checked->fixed_adapters, ElementsAre(expected));
  const auto loaded = LoadLtxPipeline(With(plain_, file), {});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_THAT((*loaded)->card().fixed_adapters, ElementsAre(expected));
  EXPECT_EQ((*loaded)->card().weights_sha256, "");  // nobody said what the files are
}

TEST_F(Adapted, ModelsHaveASumOfTheirFilesAndAdapters) {
  std::string lines;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
    if (!entry.is_regular_file()) continue;
    const std::string name = std::filesystem::relative(entry.path(), folder_.path()).string();
    std::ifstream in(entry.path(), std::ios::binary);
    lines += Sha256Hex(std::string(std::istreambuf_iterator<char>(in), {})) + "  " + name + "\n";
  }
  plain_.manifest_file = scratch_.Write("SHA256SUMS", lines);
  const std::string file = WriteAdapter("a", PeftNames);
  const auto sum = [](const LoadOptions& options) {
    const auto card = CheckLtxModel(options, {});
    EXPECT_TRUE(card.ok()) << card.status();
    return card.ok() ? card->weights_sha256 : "";
  };
  const std::string plain = sum(plain_), with = sum(With(plain_, file));
  EXPECT_EQ(plain.size(), 64U);
  EXPECT_EQ(with.size(), 64U);
  EXPECT_NE(with, plain);
  EXPECT_NE(sum(With(plain_, file, 0.25)), with);
}

TEST_F(Adapted, ModelsRefuseWhatIsNotForThem) {
  const std::string sound = WriteAdapter("sound", [](const std::string& layer) {
    return PeftNames(layer == "proj_in" ? "audio_proj_in" : layer);
  });
  EXPECT_THAT(RefusalOf(With(plain_, sound)),
              AllOf(HasSubstr(sound), HasSubstr("transformer.audio_proj_in.lora_A.weight"),
                    HasSubstr("no such layer"), HasSubstr("LTX-2")));
  LoadOptions pinned = With(plain_, WriteAdapter("a", PeftNames));
  pinned.adapters[0].sha256 = std::string(64, '0');
  EXPECT_THAT(RefusalOf(pinned), HasSubstr("its SHA-256 is"));
  LoadOptions random = With(plain_, WriteAdapter("a", PeftNames));
  random.random_weights = 1;
  EXPECT_THAT(RefusalOf(random), HasSubstr("random weights"));
}

// Two tables of names, for files of models and for adapters, agree.
TEST(AdaptedNames, AreThoseOfSingleFiles) {
  for (const char* size : {"2b", "13b"}) {
    const std::string layout = std::string(std::getenv("REEL_SOURCE")) +
                               "/tests/golden/layouts/transformer-" + size + ".json";
    const nlohmann::json shapes = (*ReadJsonFile(layout))["shapes"];
    for (const auto& [name, shape] : shapes.items()) {
      if (shape.size() != 2 || !name.ends_with(".weight")) continue;
      EXPECT_EQ(TransformerName("model.diffusion_model." + OriginalLinearName(name)), name);
    }
  }
}

}  // namespace
}  // namespace reel::model::ltx
