// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "server/front/api/authorizer.h"

namespace reel::front {
namespace {

constexpr char kTrace[] = "4bf92f3577b34da6a3ce929d0e0e4736";

TEST(Uuid, KnowsTheForm) {
  EXPECT_TRUE(IsUuid("123e4567-e89b-12d3-a456-426614174000"));
  EXPECT_TRUE(IsUuid("123E4567-E89B-12D3-A456-426614174000"));
  for (const char* bad :
       {"", "123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400",
        "123e4567-e89b-12d3-a456-42661417400g", "{23e4567-e89b-12d3-a456-426614174000}",
        "123e4567-e89b-12d3-a456_426614174000"}) {
    EXPECT_FALSE(IsUuid(bad)) << bad;
  }
}

TEST(Uuid, DrawnOnesAreUuidsAndDiffer) {
  std::set<std::string> drawn;
  for (int i = 0; i < 100; ++i) {
    const std::string uuid = DrawUuid();
    EXPECT_TRUE(IsUuid(uuid)) << uuid;
    EXPECT_EQ(uuid[14], '4');
    drawn.insert(uuid);
  }
  EXPECT_EQ(drawn.size(), 100U);
}

TEST(TraceId, IsReadFromAValidTraceparent) {
  const std::string header = std::string("00-") + kTrace + "-00f067aa0ba902b7-01";
  EXPECT_EQ(TraceIdOf(header), kTrace);
  // A later version may say more.
  EXPECT_EQ(TraceIdOf("01" + header.substr(2) + "-more"), kTrace);
}

TEST(TraceId, AnInvalidTraceparentIsAsIfItWereNotThere) {
  const std::string trace(kTrace);
  for (const std::string& bad :
       {std::string(), "00-" + trace, "ff-" + trace + "-00f067aa0ba902b7-01",
        "00-" + std::string(32, '0') + "-00f067aa0ba902b7-01",
        "00-" + trace + "-0000000000000000-01", "00-" + trace + "-00f067aa0ba902b7-01-more",
        "00-" + std::string("4BF92F3577B34DA6A3CE929D0E0E4736") + "-00f067aa0ba902b7-01",
        "00_" + trace + "-00f067aa0ba902b7-01", std::string(10'000, '-')}) {
    EXPECT_EQ(TraceIdOf(bad), "") << bad.substr(0, 80);
  }
}

TEST(CallerSpan, IsReadFromAValidTraceparent) {
  const std::string header = std::string("00-") + kTrace + "-00f067aa0ba902b7-";
  const CallerSpan recorded = CallerSpanOf(header + "01");
  EXPECT_EQ(recorded.id, "00f067aa0ba902b7");
  EXPECT_EQ(recorded.sampled, true);
  EXPECT_EQ(CallerSpanOf(header + "00").sampled, false);
  // Only the last bit is told here; another one may come to mean something.
  EXPECT_EQ(CallerSpanOf(header + "02").sampled, false);
  EXPECT_EQ(CallerSpanOf(header + "0b").sampled, true);
  EXPECT_EQ(CallerSpanOf(header + "fe").sampled, false);
}

TEST(CallerSpan, OfAnInvalidTraceparentIsNone) {
  const CallerSpan none = CallerSpanOf(std::string("00-") + kTrace + "-0000000000000000-01");
  EXPECT_EQ(none.id, "");
  EXPECT_EQ(none.sampled, std::nullopt);
}

TEST(TraceId, DrawnOnesAreOnes) {
  const std::string trace = DrawTraceId();
  EXPECT_EQ(TraceIdOf("00-" + trace + "-00f067aa0ba902b7-01"), trace);
  EXPECT_NE(trace, DrawTraceId());
}

}  // namespace
}  // namespace reel::front
