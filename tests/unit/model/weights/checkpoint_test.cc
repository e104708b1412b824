// SPDX-License-Identifier: Apache-2.0
#include "model/weights/checkpoint.h"

#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string ErrorOf(const std::string& path) {
  const auto checkpoint = Examine(path);
  EXPECT_EQ(checkpoint.status().code(), absl::StatusCode::kFailedPrecondition) << path;
  return std::string(checkpoint.status().message());
}

TEST(Examine, ReadsSafetensorsWhateverTheirName) {
  const reel::testing::TempFolder folder;
  for (const char* name : {"a.safetensors", "a.bin", "0c3f8e"}) {
    const auto checkpoint = Examine(folder.Write(name, SafetensorsOf({{"w", {2}}})));
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
    ASSERT_TRUE(checkpoint->file.has_value());
    EXPECT_NE(checkpoint->file->Find("w"), nullptr);
    EXPECT_EQ(checkpoint->pipeline_class, "");
  }
}

TEST(Examine, ReadsThePipelineOfAFolder) {
  const reel::testing::TempFolder folder;
  folder.Write("model_index.json", R"({"_class_name": "SomePipeline"})");
  const auto checkpoint = Examine(folder.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  EXPECT_EQ(checkpoint->pipeline_class, "SomePipeline");
  EXPECT_FALSE(checkpoint->file.has_value());
}

TEST(Examine, SaysWhatAFileIsInstead) {
  const reel::testing::TempFolder folder;
  const std::string pickle = "\x80\x02}q", zip = "PK\x03\x04 and so on";
  EXPECT_THAT(ErrorOf(folder.Write("a.bin", pickle)),
              AllOf(HasSubstr("pickled"), HasSubstr("a.bin")));
  EXPECT_THAT(ErrorOf(folder.Write("a.pt", zip)), HasSubstr("pickled"));
  EXPECT_THAT(ErrorOf(folder.Write("a.gguf", "GGUF rest")), HasSubstr("GGUF versions 2 and 3"));
  EXPECT_THAT(ErrorOf(folder.Write("m.safetensors.index.json", R"({"weight_map": {}})")),
              HasSubstr("give the folder"));
  EXPECT_THAT(ErrorOf(folder.Write("a.txt", "what is this")),
              HasSubstr("neither a safetensors nor a GGUF file"));
}

TEST(Examine, SaysWhatIsWrongWithABrokenOne) {
  const reel::testing::TempFolder folder;
  const std::string whole = SafetensorsOf({{"w", {2}}});
  EXPECT_THAT(ErrorOf(folder.Write("cut", whole.substr(0, whole.size() - 1))),
              HasSubstr("outside the file"));
  EXPECT_THAT(ErrorOf(folder.Write("a.safetensors", "no weights")), HasSubstr("header"));
  ErrorOf(folder.Write("empty", ""));
}

TEST(Examine, SaysWhatAFolderLacks) {
  const reel::testing::TempFolder folder;
  EXPECT_THAT(ErrorOf(folder.path()), HasSubstr("without model_index.json"));
  folder.Write("model_index.json", "{}");
  EXPECT_THAT(ErrorOf(folder.path()), HasSubstr("_class_name"));
  folder.Write("model_index.json", "no JSON");
  EXPECT_THAT(ErrorOf(folder.path()), HasSubstr("JSON"));
  EXPECT_THAT(ErrorOf(folder.path() + "/nowhere"), HasSubstr("does not exist"));
}

TEST(Examine, NamesTheModelThatMayHaveBeenMeant) {
  const reel::testing::TempFolder hub;
  const std::string snapshot = hub.File("models--x/snapshots/3fa1");
  std::filesystem::create_directories(snapshot);
  std::ofstream(snapshot + "/model_index.json") << "{}";
  EXPECT_THAT(ErrorOf(hub.File("models--x")), HasSubstr("; there is a model in " + snapshot));
  EXPECT_THAT(ErrorOf(hub.File("models--y")),
              HasSubstr("does not exist, or cannot be read; the nearest there is " +
                        hub.File("models--x")));
}

TEST(IsWeightFile, LooksAtTheBytesAlone) {
  const reel::testing::TempFolder folder;
  EXPECT_TRUE(IsWeightFile(folder.Write("a.bin", SafetensorsOf({{"w", {2}}}))));
  EXPECT_TRUE(IsWeightFile(folder.Write("b.bin", "GGUF")));
  EXPECT_FALSE(IsWeightFile(folder.Write("a.safetensors", "no weights")));
  EXPECT_FALSE(IsWeightFile(folder.path() + "/nowhere"));
}

}  // namespace
}  // namespace reel::model
