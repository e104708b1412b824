// SPDX-License-Identifier: Apache-2.0
#include "server/logging/line_splitter.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace reel {
namespace {

TEST(LineSplitter, JoinsPiecesAndSkipsEmptyLines) {
  std::vector<std::string> lines;
  const auto out = [&](std::string_view line) { lines.emplace_back(line); };
  LineSplitter splitter;
  splitter.Add("one\ntw", out);
  splitter.Add("o\n\nthr", out);
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
  splitter.End(out);
  EXPECT_EQ(lines.back(), "thr");
}

TEST(LineSplitter, CutsALineThatIsTooLong) {
  std::vector<std::string> lines;
  const auto out = [&](std::string_view line) { lines.emplace_back(line); };
  LineSplitter splitter;
  for (int i = 0; i < 5; ++i) splitter.Add(std::string(LineSplitter::kMaxLine / 2, 'x'), out);
  splitter.Add("\nnext\n", out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].size(), LineSplitter::kMaxLine);
  EXPECT_EQ(lines[1], "next");
}

}  // namespace
}  // namespace reel
