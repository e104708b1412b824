// SPDX-License-Identifier: Apache-2.0
// Models whose parts lie in files of their own, as people hold GGUF, against their folders.
#include "model/weights/part_files.h"

#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx/ltx_pipeline.h"
#include "model/ltx/part_names.h"
#include "model/weights/checkpoint.h"
#include "model/weights/weight_set.h"
#include "tests/fakes/gguf_weights.h"
#include "tests/fakes/tiny_checkpoint.h"
#include "tests/fakes/tiny_ltx.h"
#include "tests/unit/model/ltx/two_steps.h"

namespace reel::model::ltx {
namespace {

using reel::testing::GgufFile;
using reel::testing::GgufPair;
using reel::testing::GgufTensorsOf;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kVersion[] = "0.9.5";
const std::string kPrefix = "model.diffusion_model.";

std::vector<float> LatentsOf(const LoadOptions& options) {
  const auto pipeline = LoadLtxPipeline(options, {});
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  return pipeline.ok() ? LatentsAfterTwoSteps(**pipeline) : std::vector<float>();
}

// A folder that can be emptied of its weights, and files of its parts.
class PartFiles : public ::testing::Test {
 protected:
  PartFiles() : whole_(kVersion), folder_(kVersion) { options_.path = folder_.path(); }

  static WeightSet Part(const TinyFolder& folder, const std::string& name) {
    return *WeightSet::OpenFolder(folder.path() + "/" + name, "diffusion_pytorch_model");
  }
  void Empty(const std::string& part) const {
    std::filesystem::remove(folder_.path() + "/" + part + "/diffusion_pytorch_model.safetensors");
  }
  // Under the original's names.
  std::string Transformer(const std::string& prefix, const std::vector<std::string>& pairs) const {
    const auto tensors = GgufTensorsOf(Part(whole_, "transformer"), [&](const std::string& name) {
      return prefix + OriginalTransformerName(name).substr(kPrefix.size());
    });
    return scratch_.Write("transformer.gguf", GgufFile(pairs, tensors));
  }
  // Without a prefix, as the files that lie beside GGUF transformers.
  std::string Vae() const {
    const auto tensors = GgufTensorsOf(Part(whole_, "vae"), [](const std::string& name) {
      return OriginalVaeName(name, kVersion).substr(std::string("vae.").size());
    });
    return scratch_.Write("vae.safetensors", reel::testing::AsSafetensors(tensors));
  }
  void Name(ModelPart part, const std::string& path) { options_.parts.push_back({part, path}); }
  std::string Refusal() const {
    const absl::Status status = LoadLtxPipeline(options_, {}).status();
    EXPECT_EQ(CheckLtxModel(options_, {}).status(), status);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    return std::string(status.message());
  }

  const TinyFolder whole_;
  const TinyFolder folder_;
  const reel::testing::TempFolder scratch_;
  LoadOptions options_;
};

TEST_F(PartFiles, MakeTheVideoOfTheirFolder) {
  LoadOptions whole;
  whole.path = whole_.path();
  const std::vector<float> expected = LatentsOf(whole);
  Empty("transformer");
  Empty("vae");
  Name(ModelPart::kVae, Vae());
  for (const std::string& prefix : {std::string(), kPrefix}) {
    for (const char* architecture : {"ltxv", "pig", "cow"}) {
      LoadOptions options = options_;
      options.parts.push_back(
          {ModelPart::kTransformer,
           Transformer(prefix, {GgufPair("general.architecture", architecture)})});
      EXPECT_EQ(LatentsOf(options), expected) << prefix << architecture;
    }
  }
}

TEST_F(PartFiles, MayHaveTheNamesOfAFolder) {
  LoadOptions whole;
  whole.path = whole_.path();
  Empty("transformer");
  Name(ModelPart::kTransformer, whole_.path() + "/transformer/diffusion_pytorch_model.safetensors");
  EXPECT_EQ(LatentsOf(options_), LatentsOf(whole));
}

TEST_F(PartFiles, CompleteATransformerAlone) {
  LoadOptions whole;
  whole.path = whole_.path();
  options_.path =
      Transformer("", {GgufPair("config", R"({"transformer": {"num_attention_heads": 4}})")});
  options_.text_folder = whole_.path();
  EXPECT_THAT(Refusal(), HasSubstr("has no autoencoder"));
  const auto checkpoint = Examine(options_.path);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  EXPECT_TRUE(checkpoint->file.has_value());
  Name(ModelPart::kVae, Vae());
  EXPECT_EQ(LatentsOf(options_), LatentsOf(whole));
}

TEST_F(PartFiles, AreRefusedWhereTwoBringOnePart) {
  const std::string transformer = Transformer("", {});
  Name(ModelPart::kTransformer, transformer);
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("two files bring the part transformer"),
                               HasSubstr(folder_.path()), HasSubstr(transformer)));
  Empty("transformer");
  Name(ModelPart::kTransformer, Vae());
  EXPECT_THAT(Refusal(), HasSubstr("two files bring the part transformer"));
  options_.parts = {{ModelPart::kTextEncoder, transformer}};
  options_.path = whole_.path();
  EXPECT_THAT(Refusal(), HasSubstr("two files bring the part text_encoder"));
  options_.parts = {{ModelPart::kVae, Vae()}};
  options_.path = scratch_.Write("whole.safetensors", CheckpointOf(whole_.path(), kVersion));
  options_.text_folder = whole_.path();
  EXPECT_THAT(Refusal(), HasSubstr("two files bring the part vae"));
}

TEST_F(PartFiles, AreRefusedAsPartsThatTheyAreNot) {
  Empty("transformer");
  const auto refused = [this](ModelPart part, const std::string& path) {
    options_.parts = {{part, path}};
    return Refusal();
  };
  const auto transformer = [&](const std::string& path) {
    return refused(ModelPart::kTransformer, path);
  };
  EXPECT_THAT(transformer(Vae()), HasSubstr("missing"));
  EXPECT_THAT(transformer(scratch_.Write("w", CheckpointOf(whole_.path(), kVersion))),
              HasSubstr("holds more than the transformer"));
  EXPECT_THAT(transformer(Transformer("", {GgufPair("general.architecture", "clip")})),
              HasSubstr("'clip' (mmproj), expected ltxv"));
  EXPECT_THAT(transformer(scratch_.Write(
                  "l", GgufFile({}, {{"audio_patchify_proj.weight", {1}, 0, "abcd"}}))),
              HasSubstr("LTX-2"));
  EXPECT_THAT(transformer(scratch_.Write("p", "PK\x03\x04")), HasSubstr("pickled"));
  EXPECT_THAT(refused(ModelPart::kConnectors, Vae()), HasSubstr("no part connectors"));
  options_.random_weights = 1;
  EXPECT_THAT(refused(ModelPart::kVae, Vae()), HasSubstr("give no parts"));
}

TEST_F(PartFiles, AreHeldToTheManifest) {
  Empty("transformer");
  Name(ModelPart::kTransformer, Transformer("", {}));
  options_.manifest_file = scratch_.Write("sums", std::string(64, '0') + "  other\n");
  EXPECT_THAT(Refusal(), HasSubstr("not in its manifest"));
}

}  // namespace
}  // namespace reel::model::ltx
