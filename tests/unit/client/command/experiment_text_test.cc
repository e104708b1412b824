// SPDX-License-Identifier: Apache-2.0
#include "client/command/experiment_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/command/quantity.h"

namespace reel::client {
namespace {

using ::testing::HasSubstr;

TEST(DescribeExperiments, ShowsArmsAndWhatWasSeenOfEachShape) {
  v1::ListExperimentsResponse response;
  EXPECT_EQ(DescribeExperiments(response), "");
  v1::Experiment& experiment = *response.add_experiments();
  experiment.set_name("norms");
  experiment.set_share(0.1);
  for (const char* name : {"old", "new"}) {
    v1::ExperimentArm& arm = *experiment.add_arms();
    arm.set_name(name);
    arm.set_profile(std::string("p-") + name);
    arm.set_share(0.5);
    arm.set_videos(25);
  }
  EXPECT_EQ(DescribeExperiments(response),
            "EXPERIMENT  MODEL  SHARE     ARM  PROFILE  OF IT  VIDEOS  FAILED\n"
            "norms       all    10%    1  old  p-old    50%    25      0\n"
            "norms       all    10%    2  new  p-new    50%    25      0\n");
  v1::ExperimentShape& shape = *experiment.add_shapes();
  shape.set_model("ltx");
  shape.set_width(704);
  shape.set_height(480);
  shape.set_num_frames(121);
  for (const int milliseconds : {20, 15}) {
    v1::ExperimentSteps& steps = *shape.add_arms();
    steps.set_videos(24);
    *steps.mutable_step() = ToProto(absl::Milliseconds(milliseconds));
  }
  shape.set_ratio(0.75);
  shape.set_ratio_low(0.7);
  shape.set_ratio_high(0.8);
  shape.set_verdict(v1::EXPERIMENT_VERDICT_SECOND_FASTER);
  EXPECT_THAT(DescribeExperiments(response),
              HasSubstr("norms       ltx    704x480x121  20.00 ms of 24  15.00 ms of 24  "
                        "0.750 (0.700 to 0.800)  new is faster\n"));
  shape.set_verdict(v1::EXPERIMENT_VERDICT_NOT_ENOUGH_DATA);
  EXPECT_THAT(DescribeExperiments(response), HasSubstr("not enough data\n"));
}

TEST(DescribeExperiments, ShowsWhatVideosThatWereRenderedTwiceHaveShown) {
  v1::ListExperimentsResponse response;
  v1::Experiment& experiment = *response.add_experiments();
  experiment.set_name("norms");
  EXPECT_EQ(DescribeExperiments(response).find("RENDERED TWICE"), std::string::npos);
  experiment.set_shadow_share(0.1);
  v1::ExperimentShadows& shadows = *experiment.mutable_shadows();
  shadows.set_identical(3);
  shadows.set_given_up(2);
  EXPECT_THAT(DescribeExperiments(response),
              HasSubstr("norms       3               3          identical  -"));
  shadows.set_differ(4);
  shadows.set_psnr_db(41.26);
  shadows.set_lowest_psnr_db(38);
  shadows.set_lowest_ssim(0.98765);
  shadows.set_ratio(0.75);
  shadows.set_ratio_low(0.7);
  shadows.set_ratio_high(0.8);
  EXPECT_THAT(
      DescribeExperiments(response),
      HasSubstr("norms       7               3          41.3 dB, 38.0 at least  0.9877         "
                "0.750 (0.700 to 0.800)  2         0\n"));
}

}  // namespace
}  // namespace reel::client
