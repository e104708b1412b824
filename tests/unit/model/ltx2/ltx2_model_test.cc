// SPDX-License-Identifier: Apache-2.0
// Loading a folder, and the errors of folders that are refused.
#include "model/ltx2/ltx2_model.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx2/family.h"
#include "model/ltx2/ltx2_pipeline.h"
#include "model/weights/checkpoint.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::HasSubstr;

LoadOptions OptionsFor(const TinyFolder& folder) {
  LoadOptions options;
  options.name = "tiny";
  options.path = folder.path();
  return options;
}

// What a load says, which a check says as well.
std::string Refusal(const LoadOptions& options) {
  const auto pipeline = LoadLtx2Pipeline(options, {});
  EXPECT_FALSE(pipeline.ok());
  EXPECT_EQ(CheckLtx2Model(options, {}).status(), pipeline.status());
  return std::string(pipeline.status().message());
}

TEST(Ltx2Family, KnowsAFolderByItsPipeline) {
  const auto knows = [](const std::string& name) {
    return Family().recognises(Checkpoint{.pipeline_class = name, .file = {}});
  };
  for (const char* ours : {"LTX2Pipeline", "LTX2ImageToVideoPipeline", "LTX2ConditionPipeline"}) {
    EXPECT_TRUE(knows(ours)) << ours;
  }
  for (const char* other : {"LTXPipeline", "LTX2LatentUpsamplePipeline", ""}) {
    EXPECT_FALSE(knows(other)) << other;
  }
}

TEST(Ltx2Model, IsCheckedWithoutItsValuesAsItIsLoaded) {
  for (const char* variant : {"2.0", "2.3", "2.5"}) {
    const TinyFolder folder(variant);
    const auto checked = CheckLtx2Model(OptionsFor(folder), {});
    const auto loaded = LoadLtx2Pipeline(OptionsFor(folder), {});
    ASSERT_TRUE(checked.ok() && loaded.ok()) << checked.status() << loaded.status();
    const ModelCard& card = (*loaded)->card();
    EXPECT_EQ(checked->family, std::string("LTX-") + variant);
    EXPECT_EQ(card.family, checked->family);
    EXPECT_GT(card.parameters, 100'000);
    EXPECT_EQ(card.parameters, checked->parameters);
    EXPECT_EQ(card.weight_bytes, checked->weight_bytes);
    EXPECT_EQ(card.sound, checked->sound);
  }
}

TEST(Ltx2Model, HoldsTheVocoderIn32BitsWhateverTheTypeOfTheOthers) {
  const TinyFolder folder("2.3");
  LoadOptions options = OptionsFor(folder);
  options.dtype = "bf16";
  const auto model = LoadLtx2Model(options, at::kCPU);
  ASSERT_TRUE(model.ok()) << model.status();
  const int64_t vocoder = (*model)->sound.parameters() - (*model)->sound.vae().parameters();
  // Two bytes each but for the vocoder, the statistics, and norms that are fp32.
  EXPECT_GE((*model)->bytes, 2 * (*model)->parameters + 2 * vocoder);
  EXPECT_LT((*model)->bytes, 2 * (*model)->parameters + 2 * vocoder + 10'000);
}

TEST(Ltx2Model, SaysWhichPartIsMissing) {
  for (const char* part :
       {"transformer", "vae", "audio_vae", "vocoder", "connectors", "text_encoder", "scheduler"}) {
    const TinyFolder folder("2.3");
    folder.Remove(part);
    EXPECT_THAT(Refusal(OptionsFor(folder)), HasSubstr(std::string("the model has no ") + part));
  }
  const TinyFolder folder("2.3");
  folder.Remove("tokenizer");
  EXPECT_THAT(Refusal(OptionsFor(folder)), HasSubstr("/tokenizer"));
}

TEST(Ltx2Model, SaysWhatItCannotRunOfATextEncoder) {
  const TinyFolder folder("2.5");
  folder.Set("text_encoder", "text_config",
             {{"model_type", "gemma4_unified_text"}, {"num_kv_shared_layers", 20}});
  EXPECT_THAT(Refusal(OptionsFor(folder)), HasSubstr("num_kv_shared_layers must be 0"));
}

TEST(Ltx2Model, RefusesAPartOfAnotherSize) {
  const struct {
    const char *part, *key;
    nlohmann::json value;
    const char* refusal;
  } cases[] = {{"transformer", "in_channels", 16, "in_channels"},
               {"transformer", "vae_scale_factors", {8, 16, 32}, "spatial_compression_ratio is 32"},
               {"transformer", "audio_sampling_rate", 8000, "audio_sampling_rate is 8000"},
               {"transformer", "audio_in_channels", 16, "audio_in_channels"}};
  for (const auto& wrong : cases) {
    const TinyFolder folder("2.3");
    folder.Set(wrong.part, wrong.key, wrong.value);
    LoadOptions options = OptionsFor(folder);
    options.random_weights = 1;  // else a tensor's shape is refused first
    if (std::string(wrong.key).ends_with("in_channels")) {
      std::string out = wrong.key;
      out.replace(out.find("in_"), 3, "out_");
      folder.Set(wrong.part, out, wrong.value);
    }
    EXPECT_THAT(Refusal(options), HasSubstr(wrong.refusal)) << wrong.key;
  }
}

TEST(Ltx2Model, RefusesAnEncoderOfAnotherSize) {
  const TinyFolder folder("2.3");
  LoadOptions options = OptionsFor(folder);
  options.random_weights = 1;
  folder.Set("text_encoder", "text_config",
             {{"vocab_size", 651}, {"hidden_size", 24}, {"num_hidden_layers", 5}});
  EXPECT_THAT(Refusal(options), HasSubstr("number of hidden states is 6"));
  folder.Set("text_encoder", "text_config",
             {{"vocab_size", 300}, {"hidden_size", 24}, {"num_hidden_layers", 7}});
  EXPECT_THAT(Refusal(options), HasSubstr("the tokenizer has 651 tokens"));
}

TEST(Ltx2Model, MakesValuesUpWithoutFilesOfWeights) {
  const TinyFolder folder("2.3");
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  }
  EXPECT_EQ(files.size(), 6u);
  const auto stored = CheckLtx2Model(OptionsFor(folder), {});
  for (const auto& file : files) std::filesystem::remove(file);
  EXPECT_THAT(Refusal(OptionsFor(folder)), HasSubstr(".safetensors"));
  LoadOptions options = OptionsFor(folder);
  options.random_weights = 7;
  const auto loaded = LoadLtx2Pipeline(options, {});
  ASSERT_TRUE(stored.ok() && loaded.ok()) << stored.status() << loaded.status();
  EXPECT_EQ((*loaded)->card().family, "LTX-2.3, random weights");
  EXPECT_EQ((*loaded)->card().parameters, stored->parameters);
  options.manifest_file = folder.path() + "/sums";
  EXPECT_THAT(Refusal(options), HasSubstr("manifest"));
}

}  // namespace
}  // namespace reel::model::ltx2
