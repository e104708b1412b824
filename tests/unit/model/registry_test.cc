// SPDX-License-Identifier: Apache-2.0
#include "model/registry.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/families.h"
#include "tests/fakes/temp_folder.h"

namespace reel::model {
namespace {

using ::testing::HasSubstr;

LoadOptions Options(const char* name, const char* path) {
  LoadOptions options;
  options.name = name;
  options.path = path;
  return options;
}

TEST(LoadPipeline, LoadsTheTestCardWithoutAPath) {
  const auto pipeline = LoadPipeline(Options("card", ""), {});
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  EXPECT_EQ((*pipeline)->card().name, "card");
  EXPECT_EQ((*pipeline)->card().family, "test card");
}

TEST(LoadPipeline, RefusesAPathThatNoFamilyReads) {
  const reel::testing::TempFolder folder;
  folder.Write("model_index.json", R"({"_class_name": "SomePipeline"})");
  for (const std::string& path : {std::string("/nowhere"), folder.path()}) {
    const auto pipeline = LoadPipeline(Options("ltx", path.c_str()), {});
    EXPECT_EQ(pipeline.status().code(), absl::StatusCode::kFailedPrecondition);
    if (Families().empty()) continue;
    EXPECT_THAT(std::string(pipeline.status().message()), HasSubstr(path));
  }
}

TEST(LoadPipeline, RefusesAdaptersOfTheTestCard) {
  LoadOptions fixed = Options("card", ""), of_requests = fixed;
  fixed.adapters = {{"style", "/style.safetensors", 1}};
  of_requests.adapter_ranks = 32;
  for (const LoadOptions& options : {fixed, of_requests}) {
    for (const absl::Status& status :
         {LoadPipeline(options, {}).status(), CheckModel(options, {}).status}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr("give no adapters"));
    }
  }
}

TEST(Families, EachHaveANameAndAllFunctions) {
  for (const ModelFamily& family : Families()) {
    EXPECT_NE(family.name, "");
    EXPECT_NE(family.recognises, nullptr) << family.name;
    EXPECT_NE(family.load, nullptr) << family.name;
    EXPECT_NE(family.check, nullptr) << family.name;
  }
}

}  // namespace
}  // namespace reel::model
