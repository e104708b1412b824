// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/convert/convert.h"
#include "server/convert/proto_duration.h"
#include "tests/unit/server/convert/filled_message.h"

namespace reel {
namespace {

TEST(StatsConvert, CarriesEveryFieldOfRunStats) {
  v1::RunStats stats;
  Fill(stats);
  // The spec has them: VideoToProto copies them from there.
  stats.clear_experiment();
  stats.clear_arm();
  EXPECT_EQ(Difference(stats, StatsToProto(StatsFromProto(stats))), "");
}

TEST(StatsConvert, CarriesEveryFieldOfMediaAndNotices) {
  v1::MediaInfo media;
  Fill(media);
  EXPECT_EQ(Difference(media, MediaToProto(MediaFromProto(media))), "");
  v1::Notice notice;
  Fill(notice);
  EXPECT_EQ(Difference(notice, NoticeToProto(NoticeFromProto(notice))), "");
}

TEST(StatsConvert, CarriesEveryStage) {
  for (int value = v1::Stage_MIN; value <= v1::Stage_MAX; ++value) {
    const auto stage = static_cast<v1::Stage>(value);
    EXPECT_EQ(StageToProto(StageFromProto(stage)), stage);
  }
  EXPECT_EQ(StageFromProto(static_cast<v1::Stage>(99)), model::Stage::kUnspecified);
}

TEST(ModelConvert, CarriesEveryFieldOfAKernelListing) {
  v1::KernelOp op;
  Fill(op);
  for (v1::KernelVariant& variant : *op.mutable_variants()) {
    variant.mutable_support()->RemoveLast();  // one process lists itself only
    variant.mutable_support(0)->set_worker("gpu0");
  }
  EXPECT_EQ(Difference(op, ListingToProto(ListingFromProto(op), "gpu0")), "");
}

TEST(ModelConvert, ReadsAListingThatNobodySupports) {
  v1::KernelOp op;
  op.set_op("rope");
  op.add_variants()->set_name("sm90");
  EXPECT_FALSE(ListingFromProto(op).variants.at(0).runs);
}

TEST(ProtoDuration, SurvivesInfinityAndNegativeValues) {
  google::protobuf::Duration proto;
  SetProtoDuration(proto, absl::InfiniteDuration());
  EXPECT_EQ(proto.seconds(), 315'576'000'000);
  SetProtoDuration(proto, absl::Milliseconds(-1500));
  EXPECT_EQ(proto.seconds(), -1);
  EXPECT_EQ(proto.nanos(), -500'000'000);
  EXPECT_EQ(FromProtoDuration(proto), absl::Milliseconds(-1500));
}

}  // namespace
}  // namespace reel
