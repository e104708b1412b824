// SPDX-License-Identifier: Apache-2.0
#include "server/logging/log.h"

#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reel {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LogTest : public ::testing::Test {
 protected:
  // What `body` logs, by line.
  template <typename Body>
  static std::vector<std::string> Lines(const LogOptions& options, const Body& body) {
    InitLog(options);
    ::testing::internal::CaptureStderr();
    body();
    const std::string text = ::testing::internal::GetCapturedStderr();
    std::vector<std::string> lines;
    for (size_t start = 0; start < text.size();) {
      const size_t end = text.find('\n', start);
      lines.push_back(text.substr(start, end - start));
      start = end == std::string::npos ? text.size() : end + 1;
    }
    return lines;
  }
  static nlohmann::json OneObject(const std::vector<std::string>& lines) {
    EXPECT_EQ(lines.size(), 1u);
    return lines.empty() ? nlohmann::json() : nlohmann::json::parse(lines.front(), nullptr, false);
  }
};

TEST_F(LogTest, WritesOneJsonObjectALineWithTypedFields) {
  const auto line = OneObject(Lines({}, [] {
    Log(LogLevel::kInfo, "Job finished",
        {{"video", "videos/a"},
         {"steps", 30},
         {"seconds", absl::Milliseconds(1500)},
         {"ok", true}});
  }));
  EXPECT_EQ(line["level"], "info");
  EXPECT_EQ(line["msg"], "Job finished");
  EXPECT_EQ(line["video"], "videos/a");
  EXPECT_EQ(line["steps"], 30);
  EXPECT_EQ(line["seconds"], 1.5);
  EXPECT_EQ(line["ok"], true);
  EXPECT_THAT(line["time"].get<std::string>(), ::testing::MatchesRegex("20.*T.*Z"));
}

TEST_F(LogTest, ValuesCannotForgeLines) {
  const std::string hostile = "a\"}\n{\"level\":\"error\"\t\x01\x7f\\";
  for (const bool json : {true, false}) {
    LogOptions options;
    options.json = json;
    const auto lines = Lines(options, [&] { Log(LogLevel::kInfo, "m", {{"value", hostile}}); });
    ASSERT_EQ(lines.size(), 1u);
    if (json) {
      EXPECT_EQ(OneObject(lines)["value"], hostile);
    }
  }
}

TEST_F(LogTest, LevelsBelowTheSetOneAreNeitherWrittenNorCounted) {
  LogOptions options;
  options.level = LogLevel::kWarning;
  const int64_t infos = LoggedLines(LogLevel::kInfo), errors = LoggedLines(LogLevel::kError);
  const auto lines = Lines(options, [] {
    Log(LogLevel::kInfo, "quiet");
    Log(LogLevel::kError, "loud");
  });
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines.front(), HasSubstr("loud"));
  EXPECT_EQ(LoggedLines(LogLevel::kInfo), infos);
  EXPECT_EQ(LoggedLines(LogLevel::kError), errors + 1);
}

TEST_F(LogTest, ForwardedLinesNameTheirWorker) {
  const auto object = OneObject(Lines({}, [] {
    LogForwarded("gpu0", R"({"time":"2026-01-01T00:00:00Z","level":"info","msg":"loaded"})");
  }));
  EXPECT_EQ(object["worker"], "gpu0");
  EXPECT_EQ(object["msg"], "loaded");
  const auto text = OneObject(Lines({}, [] { LogForwarded("gpu0", "Segmentation \"fault\""); }));
  EXPECT_EQ(text["worker"], "gpu0");
  EXPECT_EQ(text["msg"], "Segmentation \"fault\"");
}

// A worker's stderr is also that of the libraries in it: anything may come.
TEST_F(LogTest, BytesThatAreNoUtf8BecomeReplacementCharacters) {
  const auto message = OneObject(Lines({}, [] { LogForwarded("gpu0", "bad \xff\xc3( byte"); }));
  EXPECT_EQ(message["msg"], "bad \uFFFD\uFFFD( byte");
  const auto value = OneObject(Lines({}, [] { Log(LogLevel::kInfo, "m", {{"v", "\xe2\x82"}}); }));
  EXPECT_EQ(value["v"], "\uFFFD");
}

TEST_F(LogTest, ForwardedLinesThatOnlyLookLikeJsonBecomeMessages) {
  for (const char* line : {"{\"time\":\"now\",\"msg\":\"\xff\"}", "{\"time\": soon}",
                           "{\"time\":1,\"cut\":\"by a limit}", "{\"time\":1,\"tab\":\"\t\"}"}) {
    const auto object = OneObject(Lines({}, [&] { LogForwarded("gpu0", line); }));
    ASSERT_FALSE(object.is_discarded()) << line;
    EXPECT_EQ(object["worker"], "gpu0") << line;
    EXPECT_THAT(object["msg"].get<std::string>(), HasSubstr("time")) << line;
  }
}

TEST_F(LogTest, NumbersWithoutAJsonFormAreNull) {
  const auto line =
      OneObject(Lines({}, [] { Log(LogLevel::kInfo, "m", {{"wait", absl::InfiniteDuration()}}); }));
  ASSERT_FALSE(line.is_discarded());
  EXPECT_TRUE(line["wait"].is_null());
}

TEST_F(LogTest, StatusesLeaveTheirPayloadsOut) {
  absl::Status status = absl::NotFoundError("No such video: videos/a");
  status.SetPayload("type.example/secret", absl::Cord("hidden-bytes"));
  const auto lines = Lines({}, [&] { Log(LogLevel::kWarning, "Refused", {{"status", status}}); });
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines.front(), HasSubstr("No such video"));
  EXPECT_THAT(lines.front(), Not(HasSubstr("hidden-bytes")));
}

TEST_F(LogTest, LinesOfManyThreadsStayWhole) {
  constexpr int kThreads = 4, kEach = 200;
  const auto lines = Lines({}, [] {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([i] {
        for (int n = 0; n < kEach; ++n) Log(LogLevel::kInfo, "m", {{"thread", i}, {"n", n}});
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(lines.size(), static_cast<size_t>(kThreads * kEach));
  for (const std::string& line : lines) {
    ASSERT_FALSE(nlohmann::json::parse(line, nullptr, false).is_discarded()) << line;
  }
}

TEST(ParseLogLevel, KnowsFourNamesAndNamesThemOtherwise) {
  LogLevel level = LogLevel::kInfo;
  EXPECT_TRUE(ParseLogLevel("error", level).ok());
  EXPECT_EQ(level, LogLevel::kError);
  const absl::Status status = ParseLogLevel("loud", level);
  EXPECT_THAT(std::string(status.message()), HasSubstr("debug, info, warning or error"));
  EXPECT_EQ(level, LogLevel::kError);
}

}  // namespace
}  // namespace reel
