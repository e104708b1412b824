// SPDX-License-Identifier: Apache-2.0
#include "server/logging/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace reel::server {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

// What a call writes to standard error.
template <typename F>
std::string Written(LogOptions options, const F& log) {
  InitLog(options);
  testing::internal::CaptureStderr();
  log();
  std::string text = testing::internal::GetCapturedStderr();
  InitLog({});
  return text;
}

TEST(Log, WritesOneObjectALine) {
  const std::string line = Written({}, [] {
    Log(LogLevel::kInfo, "done",
        {{"steps", 30},
         {"ratio", 0.5},
         {"good", true},
         {"took", absl::Milliseconds(1500)},
         {"name", "a\"b"}});
  });
  EXPECT_THAT(
      line, AllOf(HasSubstr("\"level\":\"info\""), HasSubstr("\"msg\":\"done\""),
                  HasSubstr("\"steps\":30"), HasSubstr("\"ratio\":0.5"), HasSubstr("\"good\":true"),
                  HasSubstr("\"took\":1.5"), HasSubstr("\"name\":\"a\\\"b\""), EndsWith("}\n")));
}

TEST(Log, AValueCannotForgeALine) {
  const std::string evil = "x\n{\"level\":\"error\"}\x1b[31m";
  for (const bool json : {true, false}) {
    const std::string line =
        Written({LogLevel::kInfo, json}, [&] { Log(LogLevel::kInfo, "m", {{"v", evil}}); });
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
    EXPECT_THAT(line, Not(HasSubstr("\x1b")));
  }
}

TEST(Log, LeavesOutWhatIsBelowTheLevel) {
  const std::string text = Written({LogLevel::kWarning, true}, [] {
    Log(LogLevel::kInfo, "quiet");
    Log(LogLevel::kWarning, "loud");
  });
  EXPECT_THAT(text, AllOf(HasSubstr("loud"), Not(HasSubstr("quiet"))));
}

TEST(Log, CountsWhatItWrites) {
  const int64_t before = LoggedLines(LogLevel::kError);
  Written({}, [] { Log(LogLevel::kError, "x"); });
  EXPECT_EQ(LoggedLines(LogLevel::kError), before + 1);
}

TEST(LogForwarded, AWorkersObjectGetsItsName) {
  const std::string line = Written(
      {}, [] { LogForwarded("gpu0", "{\"time\":\"now\",\"level\":\"info\",\"msg\":\"hi\"}"); });
  EXPECT_THAT(line, HasSubstr("\"msg\":\"hi\",\"worker\":\"gpu0\"}"));
}

TEST(LogForwarded, AnythingElseBecomesAMessage) {
  for (const char* text : {"plain words", "{\"time\":", "", "}"}) {
    const std::string line = Written({}, [&] { LogForwarded("gpu0", text); });
    EXPECT_THAT(line, AllOf(HasSubstr("\"worker\":\"gpu0\""), HasSubstr("\"level\":\"info\""),
                            EndsWith("}\n")));
  }
}

TEST(ParseLogLevel, KnowsFour) {
  LogLevel level = LogLevel::kInfo;
  EXPECT_TRUE(ParseLogLevel("debug", level).ok());
  EXPECT_EQ(level, LogLevel::kDebug);
  const absl::Status bad = ParseLogLevel("warn", level);
  EXPECT_THAT(std::string(bad.message()), AllOf(HasSubstr("warning"), HasSubstr("'warn'")));
}

}  // namespace
}  // namespace reel::server
