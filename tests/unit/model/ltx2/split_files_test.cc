// SPDX-License-Identifier: Apache-2.0
// A release in files of single parts, whose text encoder brings its own configuration and
// tokenizer, against its folder.
#include "model/ltx2/split_files.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx2/ltx2_pipeline.h"
#include "tests/fakes/split_release.h"
#include "tests/unit/model/bridge/device_under_test.h"
#include "tests/unit/model/ltx2/film.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SplitFiles : public ::testing::Test {
 protected:
  LoadOptions Options(const std::vector<std::string>& of_transformer = {"model."}) const {
    LoadOptions options;
    options.name = "tiny";
    options.dtype = "fp32";
    options.path = release_.Transformer(of_transformer);
    options.parts = {{ModelPart::kVae, release_.Vae()},
                     {ModelPart::kAudioVae, release_.AudioVae()},
                     {ModelPart::kTextEncoder, release_.TextEncoder()}};
    return options;
  }
  static std::string Refusal(const LoadOptions& options) {
    const absl::Status status = LoadLtx2Pipeline(options, {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    return std::string(status.message());
  }

  const TinyFolder folder_{"2.5"};
  SplitRelease release_{folder_};
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
  nlohmann::json& transformer = release_.config()["transformer"];
  transformer["gemma_source_checkpoint"] = {{"gemma_version", "gemma-3-12b"}};
  EXPECT_THAT(Refusal(Options()), HasSubstr("gemma_version is 'gemma-3-12b', this is Gemma 4"));
  transformer["gemma_source_checkpoint"] = {{"gemma_version", 4}};
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
    const auto tokenizer = TokenizerOfFile(*WeightSet::OpenFile(release_.TextEncoder()));
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
    return tokenizer.ok() ? tokenizer->Encode("a red fox", 16)->text_tokens : 0;
  };
  const int64_t bare = tokens();
  const std::string config = R"({"add_bos_token": true})";
  release_.text().push_back({"hf_asset__tokenizer_config.json", "U8", {23}, config});
  EXPECT_EQ(tokens(), bare + 1);
  std::erase_if(release_.text(),
                [](const auto& tensor) { return tensor.name == "tokenizer_json"; });
  EXPECT_THAT(Refusal(Options()), HasSubstr("the text encoder's file has no tokenizer"));
}

}  // namespace
}  // namespace reel::model::ltx2
