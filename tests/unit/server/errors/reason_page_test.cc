// SPDX-License-Identifier: Apache-2.0
#include "server/errors/reason_page.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace reel {
namespace {

// With REEL_WRITE_PAGES set the page is written anew.
TEST(ReasonPage, IsTheOneInTheTree) {
  const char* source = std::getenv("REEL_SOURCE");
  const std::string path = std::string(source == nullptr ? "." : source) + "/proto/README.md";
  if (std::getenv("REEL_WRITE_PAGES") != nullptr) std::ofstream(path) << ReasonPage();
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(text, ReasonPage()) << "run this test with REEL_WRITE_PAGES=1";
}

}  // namespace
}  // namespace reel
