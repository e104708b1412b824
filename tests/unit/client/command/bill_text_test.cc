// SPDX-License-Identifier: Apache-2.0
#include "client/command/bill_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/command/quantity.h"
#include "client/command/video_text.h"

namespace reel::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::RunStats BilledStats() {
  v1::RunStats stats;
  *stats.mutable_total() = ToProto(absl::Seconds(10));
  const auto add = [&](v1::RunPart part, double seconds) {
    stats.add_parts()->set_part(part);
    *stats.mutable_parts()->rbegin()->mutable_time() = ToProto(absl::Seconds(seconds));
  };
  add(v1::RUN_PART_QUEUE, 2.5);
  add(v1::RUN_PART_DENOISE, 7.5);
  stats.set_device_seconds(7.5);
  stats.set_mean_batch(2);
  stats.set_peak_memory_bytes(1'500'000'000);
  return stats;
}

void AddBilledOperator(v1::RunStats& stats, const std::string& op, double seconds) {
  v1::OperatorCost& cost = *stats.add_operators();
  cost.set_part(v1::RUN_PART_DENOISE);
  cost.set_op(op);
  cost.set_variant(op == "gaps" ? "" : "aten");
  *cost.mutable_estimate() = ToProto(absl::Seconds(seconds));
}

TEST(BillText, ShowsPartsWithTheirShare) {
  EXPECT_EQ(DescribeBill(BilledStats()),
            "part     time   share\n"
            "queue    2.5 s   25.0 %  ######\n"
            "denoise  7.5 s   75.0 %  ##################\n"
            "total    10 s\n"
            "7.5 device seconds, 2 videos a step, at most 1.5 GB of memory\n");
}

TEST(BillText, TellsTheEnergyWhereTheDeviceDoes) {
  v1::RunStats stats = BilledStats();
  EXPECT_THAT(DescribeBill(stats), Not(HasSubstr(" J")));
  stats.set_energy_joules(812.4);
  EXPECT_THAT(DescribeBill(stats), HasSubstr("7.5 device seconds, 812 J, 2 videos"));
}

TEST(BillText, ShowsOperatorsTheDearestFirst) {
  v1::RunStats stats = BilledStats();
  stats.set_timed_steps(1);
  AddBilledOperator(stats, "attention", 1);
  AddBilledOperator(stats, "linear", 5);
  AddBilledOperator(stats, "gaps", 0.5);
  const std::string text = DescribeBill(stats);
  EXPECT_LT(text.find("linear "), text.find("attention "));
  EXPECT_LT(text.find("attention "), text.find("gaps "));
  EXPECT_THAT(text, HasSubstr("linear     aten     denoise  5.0 s    50.0 %  ############\n"));
  EXPECT_THAT(text, HasSubstr("timed: 1 step;"));
}

TEST(BillText, SumsUpWhatHasNoRow) {
  v1::RunStats stats = BilledStats();
  for (int i = 0; i < 40; ++i) AddBilledOperator(stats, "op" + std::to_string(i), 0.1);
  EXPECT_THAT(DescribeBill(stats), ::testing::ContainsRegex("others +2.4 s"));
}

TEST(BillText, AServerThatTellsNoPartsGetsNoTable) {
  EXPECT_EQ(DescribeBill(v1::RunStats()), "");
  v1::Video video;
  EXPECT_THAT(DescribeVideo(video), Not(HasSubstr("share")));
  *video.mutable_stats() = BilledStats();
  EXPECT_THAT(DescribeVideo(video), HasSubstr("\n\npart     time"));
}

TEST(BillText, APartOfALaterServerHasAName) {
  EXPECT_EQ(PartName(v1::RUN_PART_HANDOVER), "handover");
  EXPECT_EQ(PartName(static_cast<v1::RunPart>(99)), "other");
}

}  // namespace
}  // namespace reel::client
