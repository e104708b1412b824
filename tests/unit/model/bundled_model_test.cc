// SPDX-License-Identifier: Apache-2.0
#include "model/bundled_model.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/fakes/temp_folder.h"

namespace reel::model {
namespace {

TEST(FindBundledModel, IsAFolderWithAnIndex) {
  const reel::testing::TempFolder models;
  EXPECT_FALSE(FindBundledModel(models.path()));
  std::filesystem::create_directory(models.File("ltx-demo"));
  EXPECT_FALSE(FindBundledModel(models.path()));
  models.Write("ltx-demo/model_index.json", "{}");
  const auto found = FindBundledModel(models.path());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, models.File("ltx-demo"));
  EXPECT_EQ(found->manifest_file, "");
  const std::string sums = models.Write("ltx-demo/SHA256SUMS", "");
  EXPECT_EQ(FindBundledModel(models.path())->manifest_file, sums);
}

TEST(FindBundledModel, IsNoneWhereThereIsNoFolderOfModels) {
  EXPECT_FALSE(FindBundledModel(""));
  EXPECT_FALSE(FindBundledModel("/nowhere"));
}

}  // namespace
}  // namespace reel::model
