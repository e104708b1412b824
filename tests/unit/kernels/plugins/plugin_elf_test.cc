// SPDX-License-Identifier: Apache-2.0
#include "kernels/plugins/plugin_elf.h"

#include <random>

#include "gtest/gtest.h"
#include "tests/fakes/plugins/kernel_repository.h"

namespace reel::kernels {
namespace {

// Whatever a file holds, it is read within its bounds: the sanitizers of the preset dev watch.
TEST(PluginElf, AnyFileIsReadWithinItsBounds) {
  std::ifstream in(testing::TestPlugin("example_norms"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  ASSERT_GT(whole.size(), 4096U);
  const testing::TempFolder folder;
  EXPECT_TRUE(CheckPluginElf(folder.Write("whole", whole)).ok());
  std::mt19937 random(7);
  int refused = 0;
  for (int round = 0; round < 400; ++round) {
    std::string changed = whole;
    // Half of them in the headers, where the offsets are.
    const size_t range = round % 2 == 0 ? 1024 : whole.size();
    for (int i = 0; i < 8; ++i) changed[random() % range] = static_cast<char>(random());
    if (round % 5 == 0) changed.resize(random() % changed.size());
    refused += CheckPluginElf(folder.Write("changed", changed)).ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 40);
}

TEST(PluginElf, AFileThatIsNotThereIsRefused) {
  EXPECT_EQ(CheckPluginElf("/nowhere/x.so").code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace reel::kernels
