// SPDX-License-Identifier: Apache-2.0
// Films of models whose parts lie in files of their own, against their folders.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx2/ltx2_pipeline.h"
#include "model/ltx2/model_parts.h"
#include "model/ltx2/single_file.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/gguf_weights.h"
#include "tests/unit/model/bridge/device_under_test.h"
#include "tests/unit/model/ltx2/film.h"

namespace reel::model::ltx2 {
namespace {

using reel::testing::GgufFile;
using reel::testing::GgufPair;
using reel::testing::GgufTensor;
using ::testing::HasSubstr;

// All names of a released file, from its golden.
std::vector<std::string> ReleasedNames() {
  const nlohmann::json golden = *ReadJsonFile(std::string(std::getenv("REEL_SOURCE")) +
                                              "/tests/golden/ltx2/single_file/2.3.json");
  std::vector<std::string> names;
  const std::string first = "model.diffusion_model.transformer_blocks.0.";
  for (const auto& [name, shape] : golden["shapes"].items()) {
    names.push_back(name);
    if (!name.starts_with(first)) continue;
    for (int block = 1; block < 4; ++block) {
      names.push_back("model.diffusion_model.transformer_blocks." + std::to_string(block) + "." +
                      name.substr(first.size()));
    }
  }
  return names;
}

class PartFiles : public ::testing::Test {
 protected:
  PartFiles() : whole_("2.3"), folder_("2.3") {
    options_.name = "tiny";
    options_.dtype = "fp32";
    options_.path = folder_.path();
  }

  // The tensors of a folder's part under their released names, less `prefix`.
  std::vector<GgufTensor> Tensors(FilePart part, const std::string& prefix = "") const {
    const auto weights = WeightSet::OpenFolder(whole_.path() + "/" + NamesOf(part).folder,
                                               "diffusion_pytorch_model");
    std::map<std::string, std::string> released;
    for (const std::string& name : ReleasedNames()) {
      const auto in_folder = NameInFolder(part, name, 8);
      if (in_folder.has_value()) released[*in_folder] = name;
    }
    return reel::testing::GgufTensorsOf(*weights, [&](const std::string& name) {
      const std::string& whole = released.at(name);
      return whole.starts_with(prefix) ? whole.substr(prefix.size()) : whole;
    });
  }
  void Empty(FilePart part) const {
    std::filesystem::remove(folder_.path() + "/" + NamesOf(part).folder +
                            "/diffusion_pytorch_model.safetensors");
  }
  std::string Write(const std::string& name, const std::vector<GgufTensor>& tensors) const {
    return scratch_.Write(name, GgufFile({GgufPair("general.architecture", "ltxv")}, tensors));
  }
  Film FilmOf(const LoadOptions& options) const {
    auto pipeline = LoadLtx2Pipeline(options, DeviceUnderTest()->stream);
    EXPECT_TRUE(pipeline.ok()) << pipeline.status();
    return pipeline.ok() ? Make(**pipeline, TinySpec()) : Film();
  }
  std::string Refusal() const {
    const absl::Status status = LoadLtx2Pipeline(options_, {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    return std::string(status.message());
  }

  const std::string kPrefix = "model.diffusion_model.";
  const TinyFolder whole_;
  const TinyFolder folder_;
  const reel::testing::TempFolder scratch_;
  LoadOptions options_;
};

std::vector<GgufTensor> Joined(std::vector<GgufTensor> some, const std::vector<GgufTensor>& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

// As GGUF files are: one with transformer and connectors without a prefix; sound in a file of both.
TEST_F(PartFiles, MakeTheFilmOfTheirFolder) {
  LoadOptions whole = options_;
  whole.path = whole_.path();
  const Film expected = FilmOf(whole);
  const std::string network = Write(
      "network.gguf",
      Joined(Tensors(FilePart::kTransformer, kPrefix), Tensors(FilePart::kConnectors, kPrefix)));
  const std::string sound =
      Write("sound.gguf", Joined(Tensors(FilePart::kAudioVae), Tensors(FilePart::kVocoder)));
  options_.parts = {{ModelPart::kTransformer, network},
                    {ModelPart::kConnectors, network},
                    {ModelPart::kVae,
                     scratch_.Write("vae.safetensors",
                                    reel::testing::AsSafetensors(Tensors(FilePart::kVae, "vae.")))},
                    {ModelPart::kAudioVae, sound}};
  for (const FilePart part : {FilePart::kTransformer, FilePart::kConnectors, FilePart::kVae,
                              FilePart::kAudioVae, FilePart::kVocoder}) {
    Empty(part);
  }
  const Film film = FilmOf(options_);
  EXPECT_TRUE(at::equal(film.frames, expected.frames));
  EXPECT_TRUE(at::equal(film.wave, expected.wave));
}

TEST_F(PartFiles, OfOnePartLeaveTheOthersInTheFolder) {
  LoadOptions whole = options_;
  whole.path = whole_.path();
  Empty(FilePart::kTransformer);
  options_.parts = {
      {ModelPart::kTransformer, Write("light.gguf", Tensors(FilePart::kTransformer))}};
  EXPECT_TRUE(at::equal(FilmOf(options_).frames, FilmOf(whole).frames));
}

TEST_F(PartFiles, AreRefusedWhereTwoBringOnePartOrOneHasMore) {
  const auto transformer = Tensors(FilePart::kTransformer, kPrefix);
  options_.parts = {{ModelPart::kTransformer, Write("t.gguf", transformer)}};
  EXPECT_THAT(Refusal(), HasSubstr("two files bring the part transformer"));
  Empty(FilePart::kTransformer);
  options_.parts = {
      {ModelPart::kTransformer,
       Write("n.gguf", Joined(transformer, Tensors(FilePart::kConnectors, kPrefix)))}};
  EXPECT_THAT(Refusal(), HasSubstr("the file also has the part connectors"));
  options_.parts = {
      {ModelPart::kTransformer,
       scratch_.Write("g", GgufFile({GgufPair("general.architecture", "gemma3")}, transformer))}};
  EXPECT_THAT(Refusal(), HasSubstr("'gemma3', expected ltxv"));
  options_.parts.clear();
  options_.path = Write("alone.gguf", transformer);
  EXPECT_THAT(Refusal(), HasSubstr("name it as the part transformer"));
}

}  // namespace
}  // namespace reel::model::ltx2
