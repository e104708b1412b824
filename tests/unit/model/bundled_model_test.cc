// SPDX-License-Identifier: Apache-2.0
#include "model/bundled_model.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/fakes/temp_folder.h"

namespace reel::model {
namespace {

TEST(FindBundledModels, TakesFoldersWithAnIndex) {
  const reel::testing::TempFolder models;
  EXPECT_TRUE(FindBundledModels(models.path()).empty());
  std::filesystem::create_directory(models.File("ltx-demo"));
  EXPECT_TRUE(FindBundledModels(models.path()).empty());
  models.Write("ltx-demo/model_index.json", "{}");
  const auto found = FindBundledModels(models.path());
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].path, models.File("ltx-demo"));
  EXPECT_EQ(found[0].manifest_file, "");
  const std::string sums = models.Write("ltx-demo/SHA256SUMS", "");
  EXPECT_EQ(FindBundledModels(models.path())[0].manifest_file, sums);
}

TEST(FindBundledModels, PutsTheDefaultFirst) {
  const reel::testing::TempFolder models;
  for (const char* name : {"ltx2-demo", "ltx-demo"}) {
    std::filesystem::create_directory(models.File(name));
    models.Write(std::string(name) + "/model_index.json", "{}");
  }
  const auto found = FindBundledModels(models.path());
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].name, "ltx-demo");
  EXPECT_EQ(found[1].name, "ltx2-demo");
}

TEST(FindBundledModels, AreNoneWhereThereIsNoFolderOfModels) {
  EXPECT_TRUE(FindBundledModels("").empty());
  EXPECT_TRUE(FindBundledModels("/nowhere").empty());
}

}  // namespace
}  // namespace reel::model
