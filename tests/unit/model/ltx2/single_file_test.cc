// SPDX-License-Identifier: Apache-2.0
// LTX-2 in one file: what its releases' tensors are called, and a film of a small one.
#include "model/ltx2/single_file.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx2/audio_vae.h"
#include "model/ltx2/connectors.h"
#include "model/ltx2/family.h"
#include "model/ltx2/ltx2_model.h"
#include "model/ltx2/ltx2_pipeline.h"
#include "model/ltx2/model_parts.h"
#include "model/ltx2/prompts.h"
#include "model/ltx2/transformer.h"
#include "model/ltx2/video_vae_config.h"
#include "model/ltx2/vocoder.h"
#include "model/vae/video_vae.h"
#include "model/weights/checkpoint.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/small_file.h"
#include "tests/unit/model/bridge/device_under_test.h"
#include "tests/unit/model/ltx2/film.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model::ltx2 {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string Golden(const std::string& name) {
  return absl::StrCat(std::getenv("REEL_SOURCE"), "/tests/golden/ltx2/", name, ".json");
}

int64_t Count(const json& shape) {
  int64_t count = 1;
  for (const auto& size : shape) count *= size.get<int64_t>();
  return count;
}

// A released file with holes for values, a byte a number.
class Release {
 public:
  explicit Release(const std::string& version)
      : version_(version), file_(*ReadJsonFile(Golden("single_file/" + version))) {
    const std::string first = "model.diffusion_model.transformer_blocks.0.";
    json whole = file_["shapes"];
    for (const auto& [name, shape] : file_["shapes"].items()) {
      if (!name.starts_with(first)) continue;
      for (int block = 1; block < 48; ++block) {
        whole[absl::StrCat("model.diffusion_model.transformer_blocks.", block, ".",
                           name.substr(first.size()))] = shape;
      }
    }
    file_["shapes"] = std::move(whole);
  }

  json& metadata() { return file_; }
  // Has a text encoder, of which these tests read nothing.
  std::string TextFolder() const {
    std::filesystem::create_directories(scratch_.File("text_encoder"));
    scratch_.Write("text_encoder/config.json", "{}");
    return scratch_.path();
  }
  std::string Write(const std::string& name = "ltx.safetensors") const {
    json header;
    header["__metadata__"] = {{"config", file_["config"].dump()},
                              {"model_version", file_["model_version"]}};
    int64_t end = 0;
    for (const auto& [tensor, shape] : file_["shapes"].items()) {
      const int64_t begin = end;
      end += Count(shape);
      header[tensor] = {{"dtype", "F8_E4M3"}, {"shape", shape}, {"data_offsets", {begin, end}}};
    }
    const std::string bytes = SafetensorsBytes(header.dump(), "");
    const std::string path = scratch_.Write(name, bytes);
    std::filesystem::resize_file(path, bytes.size() + static_cast<uint64_t>(end));
    return path;
  }

 private:
  const reel::testing::TempFolder scratch_;
  const std::string version_;
  json file_;
};

// What a folder's part has, by its golden; 2.0's autoencoder of sound is that of 2.3.
json Layout(const std::string& part, const std::string& version) {
  const std::string own = Golden("layouts/" + part + "-" + version);
  return *ReadJsonFile(std::filesystem::exists(own) ? own : Golden("layouts/" + part + "-2.0"));
}

class EveryFile : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryFile, HasThePartsOfItsFolderUnderOtherNames) {
  const Release release(GetParam());
  const auto file = WeightSet::OpenFile(release.Write());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(IsLtx2File(*file));
  for (const auto& [part, name] :
       {std::pair(FilePart::kTransformer, "transformer"), std::pair(FilePart::kVae, "vae"),
        std::pair(FilePart::kConnectors, "connectors"), std::pair(FilePart::kVocoder, "vocoder"),
        std::pair(FilePart::kAudioVae, "audio_vae")}) {
    const auto weights = WeightsOfFile(*file, part);
    ASSERT_TRUE(weights.ok()) << weights.status();
    const json layout = Layout(name, GetParam());
    for (const auto& [tensor, shape] : layout["shapes"].items()) {
      const StoredTensor* const found = weights->Find(tensor);
      ASSERT_NE(found, nullptr) << name << ": " << tensor;
      EXPECT_EQ(json(found->entry->shape), shape) << name << ": " << tensor;
    }
  }
}

// So its configurations are those of the folder, too: each layer finds its tensors, and none is
// left.
TEST_P(EveryFile, LoadsAsItsFolderDoes) {
  const Release release(GetParam());
  LoadOptions options;
  options.path = release.Write();
  options.text_folder = release.TextFolder();
  const auto parts = ModelParts::Open(options);
  ASSERT_TRUE(parts.ok()) << parts.status();
  const auto part = [&](FilePart which) {
    const auto stored = parts->Get(which);
    EXPECT_TRUE(stored.ok()) << stored.status();
    return *stored;
  };
  const at::ScalarType bf16 = at::kBFloat16;
  const StoredPart transformer = part(FilePart::kTransformer);
  const auto config = ReadTransformerConfig(transformer.config, "file");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->version(), GetParam() == "2.0" ? Version::k2_0 : Version::k2_3);
  EXPECT_EQ(config->perturbs, GetParam() != "2.0");
  const auto network = Transformer::Load(transformer.weights, *config, bf16, at::kMeta);
  ASSERT_TRUE(network.ok()) << network.status();
  EXPECT_EQ(network->parameters(), Layout("transformer", GetParam())["parameters"]);
  const StoredPart connectors = part(FilePart::kConnectors);
  const auto connectors_config = ReadConnectorsConfig(connectors.config, "file");
  ASSERT_TRUE(connectors_config.ok()) << connectors_config.status();
  EXPECT_TRUE(CheckConnectors(*connectors_config, *config).ok());
  const auto connector =
      Connectors::Load(connectors.weights, *connectors_config, kMostTextTokens, bf16, at::kMeta);
  ASSERT_TRUE(connector.ok()) << connector.status();
  EXPECT_EQ(connector->parameters(), Layout("connectors", GetParam())["parameters"]);
  const StoredPart vae = part(FilePart::kVae);
  const auto vae_config = ReadVideoVaeConfig(vae.config, "file");
  ASSERT_TRUE(vae_config.ok()) << vae_config.status();
  const auto video = LoadVideoVae(vae.weights, *vae_config, bf16, at::kMeta);
  EXPECT_TRUE(video.ok()) << video.status();
  const StoredPart audio = part(FilePart::kAudioVae), vocoder = part(FilePart::kVocoder);
  const auto audio_config = ReadAudioVaeConfig(audio.config, "file");
  const auto vocoder_config = ReadVocoderConfig(vocoder.config, "file");
  ASSERT_TRUE(audio_config.ok() && vocoder_config.ok())
      << audio_config.status() << vocoder_config.status();
  const auto spectra = AudioVae::Load(audio.weights, *audio_config, bf16, at::kMeta);
  const auto waves = Vocoder::Load(vocoder.weights, *vocoder_config, at::kMeta);
  EXPECT_TRUE(spectra.ok()) << spectra.status();
  EXPECT_TRUE(waves.ok()) << waves.status();
}

INSTANTIATE_TEST_SUITE_P(All, EveryFile, ::testing::Values("2.0", "2.3"),
                         [](const auto& test) { return test.param == "2.0" ? "Of20" : "Of23"; });

TEST(SingleFile, IsTakenForADistilledOneByItsName) {
  EXPECT_FALSE(SchedulerOfFile("/m/LTX-2.3-22b-Distilled.safetensors").use_dynamic_shifting);
  EXPECT_TRUE(SchedulerOfFile("/distilled/ltx-2.3-22b-dev.safetensors").use_dynamic_shifting);
}

TEST(SingleFile, IsRefusedWithWhatItLacks) {
  const auto refusal = [](Release& release, FilePart part) {
    LoadOptions options;
    options.path = release.Write();
    options.text_folder = release.TextFolder();
    const auto parts = ModelParts::Open(options);
    return std::string(parts.ok() ? parts->Get(part).status().message() : parts.status().message());
  };
  Release silent("2.3");
  json shapes = silent.metadata()["shapes"];
  for (const auto& [name, shape] : shapes.items()) {
    if (name.starts_with("vocoder.")) silent.metadata()["shapes"].erase(name);
  }
  EXPECT_THAT(refusal(silent, FilePart::kVocoder), HasSubstr("the file has no vocoder"));
  Release bare("2.3");
  bare.metadata()["config"] = json::object();
  EXPECT_THAT(refusal(bare, FilePart::kVae), HasSubstr("has no configuration of LTX-2"));
  Release odd("2.3");
  odd.metadata()["config"]["vae"]["decoder_blocks"][0][0] = "attn_res_x";
  EXPECT_THAT(refusal(odd, FilePart::kVae), HasSubstr("decoder_blocks has attn_res_x"));
  Release wrong("2.3");
  wrong.metadata()["config"]["transformer"]["positional_embedding_max_pos"] = {20};
  EXPECT_THAT(refusal(wrong, FilePart::kTransformer), HasSubstr("must be three numbers"));
  Release quantised("2.3");
  quantised.metadata()["shapes"]["model.diffusion_model.gone.weight_scale"] = {1};
  EXPECT_THAT(refusal(quantised, FilePart::kTransformer),
              HasSubstr("gone.weight_scale: a scale without its weight"));
}

TEST(SingleFile, MakesTheFilmOfItsFolderWithTheTextEncoderBeside) {
  const TinyFolder folder("2.3");
  Release release("2.3");
  const reel::testing::TempFolder scratch;
  LoadOptions options;
  options.name = "tiny";
  options.path =
      scratch.Write("ltx-2.3-dev.safetensors", SmallFile(folder, release.metadata()["shapes"]));
  options.text_folder = folder.path();
  options.dtype = "fp32";
  const auto checkpoint = Examine(options.path);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  EXPECT_TRUE(Family().recognises(*checkpoint));
  auto pipeline = LoadLtx2Pipeline(options, DeviceUnderTest()->stream);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  const auto of_folder = LoadTiny(folder);
  ASSERT_NE(of_folder, nullptr);
  EXPECT_EQ((*pipeline)->card().parameters, of_folder->card().parameters);
  const Film film = Make(**pipeline, TinySpec()), expected = Make(*of_folder, TinySpec());
  EXPECT_TRUE(at::equal(film.frames, expected.frames));
  EXPECT_TRUE(at::equal(film.wave, expected.wave));
  options.text_folder.clear();
  EXPECT_THAT(std::string(LoadLtx2Pipeline(options, {}).status().message()),
              HasSubstr("give the folder that has Gemma 3"));
}

// As Lightricks' fp8 files of LTX-2 are.
TEST(SingleFile, MakesTheFilmOfWhatItsScaledCodesStandFor) {
  const TinyFolder folder("2.3");
  Release release("2.3");
  const auto film = [&](Linears linears) {
    const reel::testing::TempFolder scratch;
    LoadOptions options;
    options.name = "tiny";
    options.path = scratch.Write("ltx-2.3-dev.safetensors",
                                 SmallFile(folder, release.metadata()["shapes"], linears));
    options.text_folder = folder.path();
    options.dtype = "fp32";
    auto pipeline = LoadLtx2Pipeline(options, DeviceUnderTest()->stream);
    EXPECT_TRUE(pipeline.ok()) << pipeline.status();
    return Make(**pipeline, TinySpec());
  };
  const Film scaled = film(Linears::kScaled), rounded = film(Linears::kRoundedToScaled);
  EXPECT_TRUE(at::equal(scaled.frames, rounded.frames));
  EXPECT_TRUE(at::equal(scaled.wave, rounded.wave));
  EXPECT_FALSE(at::equal(scaled.frames, film(Linears::kF32).frames));
}

}  // namespace
}  // namespace reel::model::ltx2
