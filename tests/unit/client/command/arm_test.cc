// SPDX-License-Identifier: Apache-2.0
#include "client/command/arm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reel::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(ParseArm, TakesAProfileThenSingleVariants) {
  const auto plain = ParseArm("fp8");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->profile, "fp8");
  EXPECT_THAT(plain->variants, IsEmpty());
  const auto both = ParseArm("auto+rms_norm=sm80+linear=aten");
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->profile, "auto");
  EXPECT_THAT(both->variants, ElementsAre(Pair("linear", "aten"), Pair("rms_norm", "sm80")));
  const auto variants = ParseArm("+rms_norm=sm80");
  ASSERT_TRUE(variants.ok());
  EXPECT_EQ(variants->profile, "");
}

TEST(ParseArm, RefusesTheRest) {
  for (const char* text : {"", "rms_norm=sm80", "auto+", "auto+rms_norm", "auto+=sm80",
                           "auto+rms_norm=", "auto++rms_norm=sm80"}) {
    EXPECT_FALSE(ParseArm(text).ok()) << text;
  }
}

TEST(Select, ReplacesWhatAnEarlierArmSelectedAndOptsOutOfExperiments) {
  v1::VideoSpec spec;
  Select(*ParseArm("fp8+rms_norm=sm80"), spec);
  EXPECT_EQ(spec.kernels().variants().at("rms_norm"), "sm80");
  Select(*ParseArm("auto"), spec);
  EXPECT_EQ(spec.kernels().profile(), "auto");
  EXPECT_THAT(spec.kernels().variants(), IsEmpty());
  EXPECT_EQ(spec.kernels().experiment(), "-");
}

TEST(VariantsThatRan, ListsThemByOperatorAndNamesLossyOnes) {
  v1::RunStats stats;
  const auto add = [&stats](const char* op, const char* variant, bool lossy) {
    v1::KernelUse& use = *stats.add_kernels();
    use.set_op(op);
    use.set_variant(variant);
    use.set_lossy(lossy);
  };
  add("rms_norm", "sm90", false);
  add("rms_norm", "sm80_general", false);
  EXPECT_FALSE(RanLossy(stats));
  add("linear", "e4m3_rows", true);
  EXPECT_THAT(VariantsThatRan(stats), ElementsAre(Pair("linear", "e4m3_rows (lossy)"),
                                                  Pair("rms_norm", "sm90, sm80_general")));
  EXPECT_TRUE(RanLossy(stats));
}

}  // namespace
}  // namespace reel::client
