// SPDX-License-Identifier: Apache-2.0
#include "model/text/text_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/temp_folder.h"

namespace reel::model {
namespace {

using ::testing::HasSubstr;

LoadOptions Options(const std::string& path, const std::string& text_folder = "") {
  LoadOptions options;
  options.path = path;
  options.text_folder = text_folder;
  return options;
}

TEST(TextFolderOf, IsTheModelsOwnUnlessAnotherIsNamed) {
  const reel::testing::TempFolder folder;
  const std::string file = folder.Write("model.safetensors", "weights");
  EXPECT_EQ(TextFolderOf(Options(folder.path())), folder.path());
  EXPECT_EQ(TextFolderOf(Options(file)), folder.path());
  EXPECT_EQ(TextFolderOf(Options(file, "/texts")), "/texts");
}

TEST(LoadPromptEncoder, NamesTheFileThatIsMissing) {
  const reel::testing::TempFolder folder;
  const std::string file = folder.Write("model.safetensors", "weights");
  for (const std::string& path : {folder.path(), file}) {
    const absl::Status status =
        LoadPromptEncoder(Options(path), at::kFloat, at::kCPU, 1 << 20).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(std::string(status.message()), HasSubstr("/text_encoder/config.json"));
  }
}

}  // namespace
}  // namespace reel::model
