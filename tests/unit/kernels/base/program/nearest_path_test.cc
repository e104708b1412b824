// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program/nearest_path.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/fakes/temp_folder.h"

namespace reel {
namespace {

class NearestPathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_.File("models/LTX-Video/vae"));
    std::ofstream(folder_.File("models/ltxv-2b.safetensors")) << "x";
  }
  const reel::testing::TempFolder folder_;
};

TEST_F(NearestPathTest, PutsTheFirstWrongPartRight) {
  EXPECT_EQ(NearestPath(folder_.File("models/LTX-Vidoe")), folder_.File("models/LTX-Video"));
  EXPECT_EQ(NearestPath(folder_.File("model/LTX-Video/vae")), folder_.File("models/LTX-Video/vae"));
  EXPECT_EQ(NearestPath(folder_.File("model/other")), folder_.File("models"));
  EXPECT_EQ(NearestPath(folder_.File("models/ltxv-2b.safetensor")),
            folder_.File("models/ltxv-2b.safetensors"));
}

TEST_F(NearestPathTest, HasNothingToSayWhereNothingIsNearOrAllIsRight) {
  EXPECT_EQ(NearestPath(folder_.File("models/entirely-different")), "");
  EXPECT_EQ(NearestPath(folder_.File("models/LTX-Video")), "");
  EXPECT_EQ(NearestPath(""), "");
}

}  // namespace
}  // namespace reel
