// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program_folder.h"

#include "gtest/gtest.h"

namespace reel::kernels {
namespace {

TEST(ProgramFolder, HoldsThisProgramWhateverTheWorkingFolder) {
  EXPECT_TRUE(std::filesystem::exists(ProgramFolder() / "program_folder_test")) << ProgramFolder();
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path("/");
  EXPECT_TRUE(ProgramFolder().is_absolute());
  EXPECT_TRUE(std::filesystem::exists(ProgramFolder() / "program_folder_test"));
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace reel::kernels
