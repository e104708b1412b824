// SPDX-License-Identifier: Apache-2.0
// A release in files of single parts, whose text encoder brings its own configuration and
// tokenizer, against its folder.
#include "model/ltx2/split_files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx2/ltx2_pipeline.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/small_file.h"
#include "tests/unit/model/bridge/device_under_test.h"
#include "tests/unit/model/ltx2/film.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

namespace fs = std::filesystem;
using Object = nlohmann::json;
using Rename = std::function<std::optional<std::string>(const std::string&)>;

// All names of a released file with blocks enough, from its golden.
Object ReleasedShapes() {
  const Object golden = *ReadJsonFile(
      absl::StrCat(std::getenv("REEL_SOURCE"), "/tests/golden/ltx2/single_file/2.3.json"));
  Object shapes = golden["shapes"];
  const std::string first = "model.diffusion_model.transformer_blocks.0.";
  for (const auto& [name, shape] : golden["shapes"].items()) {
    if (!name.starts_with(first)) continue;
    for (int block = 1; block < 4; ++block) {
      shapes[absl::StrCat("model.diffusion_model.transformer_blocks.", block, ".",
                          name.substr(first.size()))] = shape;
    }
  }
  return shapes;
}

void Append(const WeightSet& file, const Rename& rename, std::vector<TypedTensor>& tensors) {
  for (const auto& [name, tensor] : file.tensors()) {
    const std::optional<std::string> own = rename(name);
    if (!own.has_value()) continue;
    const auto bytes = tensor.bytes();
    tensors.push_back({*own,
                       std::string(NameOf(tensor.entry->type)),
                       tensor.entry->shape,
                       {reinterpret_cast<const char*>(bytes.data()), bytes.size()}});
  }
}

Rename Beginning(std::vector<std::string> prefixes) {
  return [prefixes](const std::string& name) -> std::optional<std::string> {
    for (const std::string& prefix : prefixes) {
      if (name.starts_with(prefix)) return name;
    }
    return std::nullopt;
  };
}

TypedTensor FileAsTensor(const std::string& name, const std::string& content) {
  return {name, "U8", {static_cast<int64_t>(content.size())}, content};
}

class SplitFiles : public ::testing::Test {
 protected:
  SplitFiles() {
    for (const char* part : {"text_encoder", "tokenizer"}) {
      folder_.Remove(part);
      fs::copy(newer_.path() + "/" + part, folder_.path() + "/" + part,
               fs::copy_options::recursive);
    }
    config_ = *ParseJson(whole_.Metadata("config"), "config");
    AddText(Beginning({"text_embedding_projection."}), whole_);
    AddText(
        [](const std::string& name) -> std::optional<std::string> {
          const std::string prefix = "model.language_model.";
          return "model." + name.substr(prefix.size());
        },
        *WeightSet::OpenFolder(newer_.path() + "/text_encoder", "model"));
    std::ifstream tokenizer(newer_.path() + "/tokenizer/tokenizer.json");
    text_.push_back(
        FileAsTensor("tokenizer_json", {std::istreambuf_iterator<char>(tokenizer), {}}));
  }

  void AddText(const Rename& rename, const WeightSet& from) { Append(from, rename, text_); }
  // The file of what begins so, with the configurations of `keys`.
  std::string Write(const std::string& name, const std::vector<std::string>& prefixes,
                    const std::vector<std::string>& keys) const {
    std::vector<TypedTensor> tensors;
    Append(whole_, Beginning(prefixes), tensors);
    Object own;
    for (const std::string& key : keys) own[key] = config_[key];
    return scratch_.Write(
        name, SafetensorsOfTypes(tensors, {{"config", own.dump()}, {"model_version", "2.3"}}));
  }
  std::string WriteText() const {
    const Object config = *ReadJsonFile(newer_.path() + "/text_encoder/config.json");
    return scratch_.Write("text", SafetensorsOfTypes(text_, {{"gemma_config", config.dump()}}));
  }
  LoadOptions Options(const std::vector<std::string>& of_transformer = {"model."}) const {
    LoadOptions options;
    options.name = "tiny";
    options.dtype = "fp32";
    options.path = Write("ltx-dev.safetensors", of_transformer, {"transformer"});
    options.parts = {{ModelPart::kVae, Write("vae", {"vae."}, {"vae"})},
                     {ModelPart::kAudioVae,
                      Write("sound", {"audio_vae.", "vocoder."}, {"audio_vae", "vocoder"})},
                     {ModelPart::kTextEncoder, WriteText()}};
    return options;
  }
  static std::string Refusal(const LoadOptions& options) {
    const absl::Status status = LoadLtx2Pipeline(options, {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    return std::string(status.message());
  }

  // The networks of 2.3 behind Gemma 4.
  const TinyFolder folder_{"2.3"}, newer_{"2.5"};
  const reel::testing::TempFolder scratch_;
  const WeightSet whole_ =
      *WeightSet::OpenFile(scratch_.Write("whole", SmallFile(folder_, ReleasedShapes())));
  Object config_;
  std::vector<TypedTensor> text_;
};

TEST_F(SplitFiles, MakeTheFilmOfTheirFolder) {
  const auto pipeline = LoadLtx2Pipeline(Options(), DeviceUnderTest()->stream);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  const auto of_folder = LoadTiny(folder_);
  ASSERT_NE(of_folder, nullptr);
  EXPECT_EQ((*pipeline)->card().parameters, of_folder->card().parameters);
  const Film film = Make(**pipeline, TinySpec()), expected = Make(*of_folder, TinySpec());
  EXPECT_TRUE(at::equal(film.frames, expected.frames));
  EXPECT_TRUE(at::equal(film.wave, expected.wave));
}

TEST_F(SplitFiles, AreRefusedWithAnotherTextEncoderThanTheTransformers) {
  config_["transformer"]["gemma_source_checkpoint"] = {{"gemma_version", "gemma-3-12b"}};
  EXPECT_THAT(Refusal(Options()), HasSubstr("gemma_version is 'gemma-3-12b', this is Gemma 4"));
  config_["transformer"]["gemma_source_checkpoint"] = {{"gemma_version", 4}};
  EXPECT_TRUE(LoadLtx2Pipeline(Options(), {}).ok());
}

TEST_F(SplitFiles, AreRefusedWhereTwoHaveTheSame) {
  EXPECT_THAT(
      Refusal(Options({"model.", "text_embedding_projection."})),
      AllOf(HasSubstr("two files have the same tensor"), HasSubstr("text_embedding_projection.")));
  EXPECT_THAT(Refusal(Options({"model.", "vae."})), HasSubstr("two files bring the part vae"));
}

TEST_F(SplitFiles, HaveATokenizerWithWhatItsConfigurationSays) {
  const auto tokens = [this] {
    const auto tokenizer = TokenizerOfFile(*WeightSet::OpenFile(WriteText()));
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
    return tokenizer.ok() ? tokenizer->Encode("a red fox", 16)->text_tokens : 0;
  };
  const int64_t bare = tokens();
  text_.push_back(FileAsTensor("hf_asset__tokenizer_config.json", R"({"add_bos_token": true})"));
  EXPECT_EQ(tokens(), bare + 1);
  std::erase_if(text_, [](const TypedTensor& tensor) { return tensor.name == "tokenizer_json"; });
  EXPECT_THAT(Refusal(Options()), HasSubstr("the text encoder's file has no tokenizer"));
}

}  // namespace
}  // namespace reel::model::ltx2
