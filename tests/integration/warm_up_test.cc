// SPDX-License-Identifier: Apache-2.0
// The set-up of first calls is done before the server takes requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string WarmedUpBy(const std::string& sizes) {
  return "models { name: 'testcard' test_card { step_time { nanos: 200000000 } } warm_up { " +
         sizes + " } }";
}

TEST(WarmUp, IsMadeBeforeTheServerIsReady) {
  const absl::Time start = absl::Now();
  ReelServer server({WarmedUpBy("sizes { width: 128 height: 96 num_frames: 9 }"), {}, "", true});
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(400)) << "ready before its two steps";
  EXPECT_THAT(server.Log(),
              AllOf(HasSubstr("A model was warmed up"), HasSubstr(R"("shape":"128x96x9")")));
  const std::string family = "reel_warm_up_duration_seconds";
  EXPECT_EQ(server.Metric(family + "_count", R"(outcome="ok")"), 1);
  EXPECT_GE(server.Metric(family + "_sum", R"(outcome="ok")"), 0.4);
  EXPECT_TRUE(Calls(server.Connect()).Generate(SmallSpec("fox")).status.ok());
}

TEST(WarmUp, ThatFailsIsAWarning) {
  ReelServer server({WarmedUpBy("sizes { width: 130 height: 96 num_frames: 9 }"), {}, "", true});
  EXPECT_THAT(server.Log(), AllOf(HasSubstr("A model could not be warmed up"),
                                  HasSubstr("130x96x9"), HasSubstr("width")));
  EXPECT_EQ(server.Metric("reel_warm_up_duration_seconds_count", R"(outcome="failed")"), 1);
  EXPECT_TRUE(Calls(server.Connect()).Generate(SmallSpec("fox")).status.ok());
}

}  // namespace
}  // namespace reel::tests
