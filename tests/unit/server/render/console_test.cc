// SPDX-License-Identifier: Apache-2.0
#include "server/render/console.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace reel::render {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Console, ShowsProgressOnATerminalOnly) {
  ::testing::internal::CaptureStderr();
  Console(false).Progress(model::Stage::kDenoise, 3, 20);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  ::testing::internal::CaptureStderr();
  Console(true).Progress(model::Stage::kDenoise, 3, 20);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("denoise 3/20"));
}

TEST(Console, PrintsEveryViolationOnALineOfItsOwn) {
  ::testing::internal::CaptureStderr();
  Console(false).Violations({{"width", "too wide"}, {"crf", "too low"}});
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "reel-render: width: too wide\nreel-render: crf: too low\n");
}

TEST(Console, AnErrorWritesOverTheProgress) {
  ::testing::internal::CaptureStderr();
  Console console(true);
  console.Progress(model::Stage::kDecode, 1, 1);
  console.Error("gone");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("\r\033[Kreel-render: gone\n"));
}

TEST(Console, PrintsTimings) {
  model::RunStats stats;
  stats.denoise = absl::Seconds(3);
  stats.kernels = {{"rms_norm", "loops", 12}};
  ::testing::internal::CaptureStderr();
  Console(false).Timings(stats, 2, absl::Seconds(1), absl::Seconds(5));
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, StartsWith("load                 1.000 s\n"));
  EXPECT_THAT(text, HasSubstr("  per step           1.500 s\n"));
  EXPECT_THAT(text, Not(HasSubstr("reused")));
  stats.reused_steps = 1;
  ::testing::internal::CaptureStderr();
  Console(false).Timings(stats, 2, absl::Seconds(1), absl::Seconds(5));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("  reused steps           1 of 2\n"));
  EXPECT_THAT(text, HasSubstr("rms_norm         loops                   12 calls\n"));
}

}  // namespace
}  // namespace reel::render
