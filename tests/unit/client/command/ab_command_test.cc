// SPDX-License-Identifier: Apache-2.0
// reel ab and reel compare against a fake server: what they ask for, and how they end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/command/quantity.h"
#include "tests/unit/client/command/command_fixture.h"

namespace reel::client {
namespace {

using ::testing::HasSubstr;

class AbCommandTest : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    v1::RunStats stats;
    *stats.mutable_total() = ToProto(absl::Milliseconds(9));
    v1::KernelUse& use = *stats.add_kernels();
    use.set_op("rms_norm");
    use.set_variant("sm80");
    v1::PartSpan& span = *stats.add_spans();
    span.set_part(v1::RUN_PART_DENOISE);
    span.set_step(2);
    span.set_jobs(1);
    *span.mutable_duration() = ToProto(absl::Milliseconds(3));
    server_.SetStats(stats);
  }
};

TEST_F(AbCommandTest, WithoutADifferenceItHasAnExitCodeOfItsOwn) {
  EXPECT_EQ(Run({"ab", "x", "--a", "auto", "--b", "reference", "-n", "2"}), 11);
  EXPECT_THAT(out_, HasSubstr("verdict: none: both arms ran the same kernels"));
  EXPECT_THAT(err_, HasSubstr("reel-frames is not installed beside reel"));
}

TEST_F(AbCommandTest, EveryRenderHasTheSeedAndTheWorkerOfTheFirst) {
  ASSERT_EQ(Run({"ab", "x", "--a", "auto", "--b", "reference", "-n", "3"}), 11);
  const auto asked = server_.asked().generates;
  ASSERT_EQ(asked.size(), 8u);
  std::string order;
  for (size_t i = 0; i < asked.size(); ++i) {
    order += asked[i].spec().kernels().profile() == "auto" ? "A" : "B";
    EXPECT_EQ(asked[i].without_media(), i >= 2) << i;
    if (i == 0) continue;
    EXPECT_EQ(asked[i].spec().seed(), 7u) << i;
    EXPECT_EQ(asked[i].spec().worker(), "cpu0") << i;
  }
  EXPECT_EQ(order,
            "AB"
            "AB"
            "BA"
            "AB");
}

TEST_F(AbCommandTest, ARefusalEndsIt) {
  EXPECT_EQ(Run({"ab", "x", "--a", "auto", "--b", "rms_norm=sm80"}), 2);
  EXPECT_EQ(Run({"ab", "x", "--a", "auto"}), 2);
  EXPECT_EQ(Run({"ab", "x", "--a", "auto", "--b", "fp8", "--kernels", "auto"}), 2);
  EXPECT_EQ(Run({"compare", "x", "--kernels", "auto"}), 2);
  EXPECT_EQ(Run({"compare", "x", "--kernels", "auto,fp8,reference"}), 2);
}

TEST_F(AbCommandTest, CompareWritesBothFilesAndSaysThatPicturesWereNotCompared) {
  EXPECT_EQ(Run({"compare", "x", "--kernels", "auto,reference", "-o", folder_ + "/two"}), 0);
  EXPECT_EQ(ReadAll(folder_ + "/two-a.mp4"), server_.media());
  EXPECT_EQ(ReadAll(folder_ + "/two-b.mp4"), server_.media());
  EXPECT_THAT(out_, HasSubstr("pictures unknown\n"));
  EXPECT_THAT(err_, HasSubstr("reel-frames is not installed"));
}

}  // namespace
}  // namespace reel::client
