// SPDX-License-Identifier: Apache-2.0
#include "client/command/comparison_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/command/quantity.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"

namespace reel::client {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

void AddCost(v1::RunStats& stats, const char* op, const char* variant, int microseconds) {
  v1::OperatorCost& cost = *stats.add_operators();
  cost.set_part(v1::RUN_PART_DENOISE);
  cost.set_op(op);
  cost.set_variant(variant);
  *cost.mutable_estimate() = ToProto(absl::Microseconds(microseconds));
  v1::KernelUse& use = *stats.add_kernels();
  use.set_op(op);
  use.set_variant(variant);
}

ArmVideos TwoVideos() {
  ArmVideos videos{"auto", "auto+rms_norm=mine", {}, {}};
  AddCost(*videos.a.mutable_stats(), "rms_norm", "sm80", 1500);
  AddCost(*videos.a.mutable_stats(), "rms_norm", "sm80_general", 500);
  AddCost(*videos.a.mutable_stats(), "linear", "aten", 9000);
  AddCost(*videos.b.mutable_stats(), "rms_norm", "mine", 3000);
  AddCost(*videos.b.mutable_stats(), "linear", "aten", 9000);
  for (v1::Video* video : {&videos.a, &videos.b}) {
    v1::PartTime& part = *video->mutable_stats()->add_parts();
    part.set_part(v1::RUN_PART_DENOISE);
    *part.mutable_time() = ToProto(absl::Milliseconds(video == &videos.a ? 10 : 20));
  }
  return videos;
}

TEST(CompareBills, PutsVariantsAndTimesOfAnOperatorSideBySide) {
  EXPECT_EQ(CompareBills(TwoVideos()),
            "A: auto\n"
            "B: auto+rms_norm=mine\n"
            "\n"
            "part     A         B         B/A\n"
            "denoise  10.00 ms  20.00 ms  2.00\n"
            "total    0.00 ms   0.00 ms\n"
            "\n"
            "operator  in       A                   A took   B     B took   B/A\n"
            "linear    denoise  aten                9.00 ms  aten  9.00 ms  1.00\n"
            "rms_norm  denoise  sm80, sm80_general  2.00 ms  mine  3.00 ms  1.50\n");
}

TEST(DistanceWarning, IsForExactVariantsWhosePicturesLieFarApart) {
  ArmVideos videos = TwoVideos();
  EXPECT_THAT(DistanceWarning(videos, FrameDistance{9, 39.0, 0.9}), HasSubstr("40 dB"));
  EXPECT_THAT(DistanceWarning(videos, FrameDistance{9, 41.0, 0.9}), IsEmpty());
  EXPECT_THAT(DistanceWarning(videos, FrameDistance{9, std::nullopt, 1}), IsEmpty());
  EXPECT_THAT(DistanceWarning(videos, std::nullopt), IsEmpty());
  videos.b.mutable_stats()->mutable_kernels(0)->set_lossy(true);
  EXPECT_THAT(DistanceWarning(videos, FrameDistance{9, 20.0, 0.9}), IsEmpty());
}

AbReport ReportOfPairs(int count, double ratio, bool same_kernels) {
  AbReport report;
  report.videos = TwoVideos();
  for (int i = 0; i < count; ++i) report.pairs.push_back({1.0, ratio * (1 + 0.001 * i)});
  report.result = Judge(report.pairs, same_kernels);
  report.distance = FrameDistance{9, 51.25, 0.998};
  return report;
}

TEST(AbText, EndsWithTheVerdict) {
  const std::string slower = AbText(ReportOfPairs(10, 1.1, false));
  EXPECT_THAT(slower, HasSubstr("rms_norm  sm80, sm80_general  mine\n"));
  EXPECT_THAT(slower, Not(HasSubstr("linear")));
  EXPECT_THAT(slower, HasSubstr("pairs 10, step time B/A 1.10"));
  EXPECT_THAT(slower, HasSubstr("p 0.002 (Wilcoxon)"));
  EXPECT_THAT(slower, HasSubstr("PSNR 51.2 dB, SSIM 0.9980"));
  EXPECT_THAT(slower, HasSubstr("verdict: a step of B takes 10."));
  EXPECT_THAT(AbText(ReportOfPairs(10, 0.5, false)), HasSubstr("% less time than one of A"));
  EXPECT_THAT(AbText(ReportOfPairs(10, 3, false)), HasSubstr("3.0 times as long"));
  EXPECT_THAT(AbText(ReportOfPairs(3, 3, false)),
              HasSubstr("not enough data: 3 pairs of at least"));
  EXPECT_THAT(AbText(ReportOfPairs(10, 3, true)), HasSubstr("ran the same kernels"));
}

TEST(AbJson, HasEveryFigure) {
  google::protobuf::Struct json;
  const std::string text = AbJson(ReportOfPairs(10, 1.1, false));
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(text, &json).ok()) << text;
  EXPECT_EQ(json.fields().at("verdict").string_value(), "slower");
  EXPECT_EQ(json.fields().at("pairs").number_value(), 10);
  EXPECT_NEAR(json.fields().at("psnrDb").number_value(), 51.25, 1e-9);
  EXPECT_EQ(json.fields().at("stepSeconds").list_value().values_size(), 10);
  EXPECT_LT(json.fields().at("low").number_value(), json.fields().at("ratio").number_value());
}

}  // namespace
}  // namespace reel::client
