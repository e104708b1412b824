// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/fnv1a.h"

#include <gtest/gtest.h>

#include <string_view>

namespace reel {
namespace {

template <typename... Parts>
uint32_t HashOf(const Parts&... parts) {
  Fnv1a hash;
  (hash.Add(parts), ...);
  return hash.value();
}

TEST(Fnv1a, IsTheSameOnEveryMachineAndInEveryBuild) {
  EXPECT_EQ(HashOf(std::string_view()), 1329837598U);
  EXPECT_EQ(HashOf(std::string_view("a fox"), 7U), 176997035U);
}

TEST(Fnv1a, GoesByTheBytesInTheirOrder) {
  EXPECT_NE(HashOf(std::string_view("ab")), HashOf(std::string_view("ba")));
  EXPECT_EQ(HashOf(std::string_view("ab")), HashOf(std::string_view("a"), std::string_view("b")));
  EXPECT_EQ(HashOf(0x64636261U), HashOf(std::string_view("abcd")));
}

}  // namespace
}  // namespace reel
