// SPDX-License-Identifier: Apache-2.0
#include "client/command/console.h"

#include <gtest/gtest.h>

#include <memory>

namespace reel::client {
namespace {

class ConsoleTest : public testing::Test {
 protected:
  std::string Written(std::FILE* file) {
    std::fflush(file);
    std::string text(static_cast<size_t>(std::ftell(file)), '\0');
    std::rewind(file);
    EXPECT_EQ(std::fread(text.data(), 1, text.size(), file), text.size());
    return text;
  }
  static std::string Line(int) { return "half way"; }

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> out_{std::tmpfile()}, err_{std::tmpfile()};
};

TEST_F(ConsoleTest, DrawsNothingWithoutATerminalOrWhenQuiet) {
  for (const bool live : {false, true}) {
    Console console(out_.get(), err_.get(), {.live = live, .quiet = live});
    console.Progress(Line, true);
    if (live) console.Notice("a note");
  }
  EXPECT_EQ(Written(err_.get()), "");
}

TEST_F(ConsoleTest, ClearsTheLineBeforeOtherText) {
  {
    Console console(out_.get(), err_.get(), {.live = true});
    console.Progress(Line, true);
    console.Notice("a note");
    console.Progress(Line, true);
    EXPECT_TRUE(console.Print("out.mp4\n"));
  }
  EXPECT_EQ(Written(err_.get()), "\r\033[Khalf way\r\033[Ka note\n\r\033[Khalf way\r\033[K");
  EXPECT_EQ(Written(out_.get()), "out.mp4\n");
}

TEST_F(ConsoleTest, RedrawsOnlySoOften) {
  Console console(out_.get(), err_.get(), {.live = true});
  int drawn = 0;
  const auto count = [&drawn](int) {
    ++drawn;
    return std::string();
  };
  for (int i = 0; i < 1000; ++i) console.Progress(count, false);
  EXPECT_LT(drawn, 100);
  console.Progress(count, true);
  EXPECT_GE(drawn, 2);
}

}  // namespace
}  // namespace reel::client
