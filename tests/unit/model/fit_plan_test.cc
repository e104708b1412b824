// SPDX-License-Identifier: Apache-2.0
#include "model/fit_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "model/fit_model.h"
#include "tests/unit/model/example_card.h"

namespace reel::model {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kGb = 1'000'000'000, kMb = 1'000'000;
constexpr int64_t kBlockOf22b = 37'120 * kMb / 48;

// The released models in bf16, as their headers and configurations give them.
WeightSizes Of2b() {
  return {.text_layers = 9'261 * kMb,
          .text_layer = 386 * kMb,
          .text_table = 263 * kMb,
          .blocks = std::vector<int64_t>(28, 118 * kMb),
          .around_blocks = 560 * kMb,
          .autoencoders = 2'490 * kMb,
          .codes = 1'645 * kMb,
          .can_stream_blocks = true};
}
WeightSizes Of13b() {
  WeightSizes sizes = Of2b();
  sizes.blocks = std::vector<int64_t>(48, 470 * kMb);
  sizes.around_blocks = 3'530 * kMb;
  sizes.codes = 11'280 * kMb;
  return sizes;
}
WeightSizes Of22b() {
  return {.text_layers = 21'520 * kMb,
          .text_layer = 449 * kMb,
          .text_table = 2'014 * kMb,
          .blocks = std::vector<int64_t>(48, kBlockOf22b),
          .around_blocks = 860 * kMb,
          .autoencoders = 3'100 * kMb,
          .connector_layers = 4'030 * kMb,
          .connector_rest = 2'310 * kMb,
          .codes = 18'560 * kMb,
          .can_stream_blocks = true};
}

FitNeed Need(int64_t device, int64_t video = 2 * kGb) {
  return {.device = device, .usual_video = video, .least_video = 300 * kMb};
}

// What the plan comes to: where the text encoder is, and how many blocks are resident; -1: it does
// not fit.
struct Held {
  Place text = Place::kAuto;
  int resident = -1;

  friend bool operator==(const Held&, const Held&) = default;
  friend void PrintTo(const Held& held, std::ostream* out) {
    *out << (held.text == Place::kHost ? "text on the host, " : "") << held.resident << " blocks";
  }
};
Held HeldBy(const WeightSizes& sizes, const FitNeed& need, const Offload& offload = {}) {
  const auto plan = PlanFit(sizes, need, offload);
  return plan.ok() ? Held{plan->text, plan->resident_blocks} : Held();
}

TEST(FitPlan, KeepsAsMuchOnADeviceAsLeavesRoomForTheUsualVideo) {
  using enum Place;
  struct Row {
    int gb;
    Held of_2b, of_13b, of_22b;
  };
  const std::vector<Row> table = {
      {6, {kHost, 0}, {}, {}},
      {8, {kHost, 6}, {}, {}},
      {12, {kHost, 28}, {kHost, 2}, {kHost, 0}},
      {16, {kHost, 28}, {kHost, 11}, {kHost, 5}},
      {24, {kDevice, 28}, {kHost, 27}, {kHost, 15}},
      {32, {kDevice, 28}, {kHost, 43}, {kHost, 24}},
      {48, {kDevice, 28}, {kDevice, 48}, {kHost, 44}},
      {80, {kDevice, 28}, {kDevice, 48}, {kDevice, 48}},
  };
  for (const Row& row : table) {
    const FitNeed need = Need(row.gb * kGb);
    EXPECT_EQ(HeldBy(Of2b(), need), row.of_2b) << row.gb;
    EXPECT_EQ(HeldBy(Of13b(), need), row.of_13b) << row.gb;
    EXPECT_EQ(HeldBy(Of22b(), need), row.of_22b) << row.gb;
  }
}

TEST(FitPlan, AddsUpWhateverItMoves) {
  for (const WeightSizes& sizes : {Of2b(), Of13b(), Of22b()}) {
    for (int64_t device = 4 * kGb; device < 96 * kGb; device += kGb / 2) {
      const auto plan = PlanFit(sizes, Need(device), {});
      if (!plan.ok()) continue;
      const int64_t ring = plan->ring_slots * plan->slot_bytes;
      EXPECT_LE(plan->device_bytes(), UsableMemory(device)) << device;
      EXPECT_EQ(plan->device_bytes() - ring + plan->host_bytes(), sizes.all()) << device;
      EXPECT_EQ(plan->resident_blocks + plan->streamed_blocks, sizes.num_blocks());
      EXPECT_EQ(plan->step_copies > 0, plan->streamed_blocks > 0);
      EXPECT_EQ(plan->text_copies > 0, plan->text == Place::kHost);
      EXPECT_EQ(plan->ring_slots > 0, plan->step_copies + plan->text_copies > 0);
    }
  }
}

TEST(FitPlan, KeepsMoreOnALargerDevice) {
  int64_t last = 0;
  for (int64_t device = 4 * kGb; device < 96 * kGb; device += kGb / 4) {
    const auto plan = PlanFit(Of13b(), Need(device), {});
    if (!plan.ok()) {
      EXPECT_EQ(last, 0) << device;
      continue;
    }
    const int64_t ring = plan->ring_slots * plan->slot_bytes;
    EXPECT_GE(plan->device_bytes() - ring, last) << device;
    last = plan->device_bytes() - ring;
  }
  EXPECT_EQ(last, Of13b().all());
}

TEST(FitPlan, TakesTheSmallestFormWhereOnlySmallVideosFit) {
  const auto plan = PlanFit(Of2b(), Need(8 * kGb, 20 * kGb), {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_LT(plan->left(), 0);
  EXPECT_EQ(plan->resident_blocks, 0);
  EXPECT_EQ(plan->text, Place::kHost);
}

TEST(FitPlan, RefusesWithTheSumWhatDoesNotFitInAnyForm) {
  const absl::Status refused = PlanFit(Of13b(), Need(6 * kGb), {}).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("of 6.0 GB 5.1 can be used, and its weights take at least 7.4 GB = "
                        "transformer 3.5 + autoencoders 2.5 + ring 1.4, the smallest video 0.3"));
}

TEST(FitPlan, DoesWhatAConfigurationSays) {
  using enum Place;
  const FitNeed need = Need(80 * kGb);
  EXPECT_EQ(HeldBy(Of13b(), need, {.text = kHost}), (Held{kHost, 48}));
  EXPECT_EQ(HeldBy(Of13b(), need, {.resident_blocks = 12}), (Held{kDevice, 12}));
  EXPECT_EQ(HeldBy(Of13b(), need, {.text = kHost, .resident_blocks = 0}), (Held{kHost, 0}));
  // Nothing else is moved in its place.
  EXPECT_EQ(HeldBy(Of13b(), Need(24 * kGb), {.resident_blocks = 48}), Held());
  EXPECT_EQ(HeldBy(Of2b(), Need(16 * kGb), {.text = kDevice}), (Held{kDevice, 0}));

  for (const int wrong : {-1, 49}) {
    const absl::Status refused = PlanFit(Of13b(), need, {.resident_blocks = wrong}).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("has 48 blocks"));
  }
}

TEST(FitPlan, MovesTheEncoderOfPicturesBehindThatOfTexts) {
  WeightSizes sizes = Of13b();
  sizes.encoder_layers = 1'000 * kMb;
  sizes.encoder_layer = 300 * kMb;
  sizes.autoencoders -= sizes.encoder_layers;
  const auto encoder_on = [&](int64_t device, const Offload& offload = {}) {
    const auto plan = PlanFit(sizes, Need(device), offload);
    return plan.ok() ? plan->encoder : Place::kAuto;
  };
  EXPECT_EQ(encoder_on(80 * kGb), Place::kDevice);
  // 29.4 GB with it, 28.4 without.
  EXPECT_EQ(encoder_on(34 * kGb), Place::kDevice);
  EXPECT_EQ(encoder_on(33 * kGb), Place::kHost);
  EXPECT_EQ(HeldBy(sizes, Need(33 * kGb)), (Held{Place::kHost, 48}));
  EXPECT_EQ(HeldBy(Of13b(), Need(33 * kGb)), (Held{Place::kHost, 46}));
  EXPECT_EQ(encoder_on(80 * kGb, {.encoder = Place::kHost}), Place::kHost);
  EXPECT_EQ(PlanFit(sizes, Need(24 * kGb), {})->picture_copies, sizes.encoder_layers);
  // Slots for it would take more than it does.
  sizes.encoder_layer = 1'000 * kMb;
  EXPECT_EQ(encoder_on(24 * kGb), Place::kDevice);
}

TEST(FitPlan, StreamsNoBlocksOfAModelThatCannot) {
  WeightSizes sizes = Of13b();
  sizes.can_stream_blocks = false;
  EXPECT_EQ(HeldBy(sizes, Need(24 * kGb)), Held());
  EXPECT_EQ(HeldBy(sizes, Need(40 * kGb)), (Held{Place::kHost, 48}));
  EXPECT_TRUE(
      absl::IsInvalidArgument(PlanFit(sizes, Need(24 * kGb), {.resident_blocks = 4}).status()));
  EXPECT_TRUE(PlanFit(sizes, Need(80 * kGb), {.resident_blocks = 48}).ok());
}

TEST(StreamedBlocks, LieEvenlyBetweenResidentOnes) {
  for (int all = 1; all <= 48; ++all) {
    for (int streamed = 0; streamed <= all; ++streamed) {
      FitPlan plan;
      plan.resident_blocks = all - streamed;
      plan.streamed_blocks = streamed;
      int count = 0, run = 0, longest = 0;
      for (int i = 0; i < all; ++i) {
        const bool is_streamed = IsStreamed(plan, i);
        count += is_streamed ? 1 : 0;
        run = is_streamed ? run + 1 : 0;
        longest = std::max(longest, run);
      }
      EXPECT_EQ(count, streamed);
      EXPECT_EQ(IsStreamed(plan, 0), streamed == all);
      if (streamed <= all / 2) {
        EXPECT_LE(longest, 1) << all << " " << streamed;
      }
    }
  }
}

TEST(FitPlan, CountsBlocksOfSeveralSizesEach) {
  WeightSizes sizes = Of22b();  // with all but the first and the last in 8 bits
  for (size_t i = 1; i + 1 < sizes.blocks.size(); ++i) sizes.blocks[i] = 520 * kMb;
  const auto plan = PlanFit(sizes, Need(24 * kGb), {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_GT(plan->resident_blocks, HeldBy(Of22b(), Need(24 * kGb)).resident);
  EXPECT_EQ(plan->slot_bytes, kBlockOf22b);  // the last block streams
  EXPECT_EQ(plan->step_copies, kBlockOf22b + (plan->streamed_blocks - 1) * 520 * kMb);
}

class FitModel : public ::testing::Test {
 protected:
  FitModel() {
    card_.lossy_profiles = {"int8",    "fp8",    "int8_all", "fp8_attention",
                            "fp8_all", "routed", "cache"};
    card_.memory = {.job = 100 * kMb, .step_row = 86'000, .clip_pixel = 12};
    options_.device_memory = 24 * kGb;
  }
  std::vector<std::string> ProfilesOn(int64_t device) {
    options_.device_memory = device;
    ModelCard card = card_;
    const auto plan = PlanFor(options_, Of13b(), card);
    EXPECT_TRUE(plan.ok()) << plan.status();
    if (plan.ok()) ApplyPlan(*plan, Of13b(), card);
    return card.lossy_profiles;
  }

  ModelCard card_ = ExampleCard();
  LoadOptions options_;
};

TEST_F(FitModel, IsPlannedWhereASizeOrAPlaceIsNamed) {
  EXPECT_TRUE(WantsPlan(options_));
  EXPECT_FALSE(WantsPlan({}));
  LoadOptions in_codes;
  in_codes.weights_form = WeightsForm::kE4m3;
  EXPECT_TRUE(WantsPlan(in_codes));
  LoadOptions placed;
  placed.offload.text = Place::kHost;
  EXPECT_TRUE(WantsPlan(placed));
  const auto plan = PlanFor(placed, Of13b(), card_);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->text, Place::kHost);
  EXPECT_EQ(plan->streamed_blocks, 0);
}

TEST_F(FitModel, LeavesRoomForTheCardsDefaultVideo) {
  const FitNeed need = NeedOf(card_, 24 * kGb);
  EXPECT_EQ(need.device, 24 * kGb);
  EXPECT_EQ(need.usual_video,
            100 * kMb + std::max<int64_t>(86'000 * 3 * 22 * 15 * 13, 12 * 704 * 480 * 97));
  EXPECT_LT(need.least_video, need.usual_video);
  EXPECT_GT(need.least_video, 100 * kMb);
  card_.memory = {};
  EXPECT_EQ(NeedOf(card_, kGb).usual_video, 0);
}

TEST_F(FitModel, SaysInTheCardWhatStaysOnTheDevice) {
  const auto plan = PlanFor(options_, Of13b(), card_);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ApplyPlan(*plan, Of13b(), card_);
  EXPECT_EQ(card_.weight_bytes, plan->device_bytes());
  EXPECT_EQ(card_.host_bytes, plan->host_bytes());
  EXPECT_EQ(card_.streamed_bytes, plan->step_copies);
  EXPECT_GT(card_.streamed_bytes, 0);
  EXPECT_EQ(card_.fit, *plan);
}

TEST_F(FitModel, OffersLayersInEightBitsWhereTheyFitBesideTheOthers) {
  using ::testing::ElementsAre;
  EXPECT_THAT(ProfilesOn(24 * kGb), ElementsAre("fp8_attention", "cache"));
  EXPECT_THAT(ProfilesOn(48 * kGb), ElementsAre("fp8_attention", "cache"));
  EXPECT_THAT(ProfilesOn(58 * kGb), ElementsAre("int8", "int8_all", "fp8_attention", "cache"));
  EXPECT_EQ(ProfilesOn(80 * kGb), card_.lossy_profiles);
}

TEST_F(FitModel, OffersTheProfilesOfTheCodesThatItHoldsWhereverBlocksAre) {
  WeightSizes sizes = Of13b();
  sizes.form = WeightsForm::kE4m3;
  for (const int gb : {24, 80}) {
    options_.device_memory = gb * kGb;
    ModelCard card = card_;
    const auto plan = PlanFor(options_, sizes, card);
    ASSERT_TRUE(plan.ok()) << plan.status();
    ApplyPlan(*plan, sizes, card);
    EXPECT_THAT(card.lossy_profiles,
                ::testing::ElementsAre("fp8", "fp8_attention", "fp8_all", "routed", "cache"));
    EXPECT_EQ(card.weights_form, WeightsForm::kE4m3);
  }
}

TEST_F(FitModel, KeepsTheBlocksOfAGroupOnItsDevices) {
  options_.peers = {1};
  EXPECT_TRUE(absl::IsResourceExhausted(PlanFor(options_, Of13b(), card_).status()));
  options_.device_memory = 80 * kGb;
  EXPECT_TRUE(PlanFor(options_, Of13b(), card_).ok());
}

TEST_F(FitModel, LooksAtShapesWithoutSumsAdaptersAndPeers) {
  options_.manifest_file = "sums";
  options_.adapters = {{.name = "a"}};
  options_.peers = {1};
  options_.path = "/m";
  const LoadOptions shapes = ForShapes(options_);
  EXPECT_TRUE(shapes.manifest_file.empty());
  EXPECT_TRUE(shapes.adapters.empty());
  EXPECT_TRUE(shapes.peers.empty());
  EXPECT_EQ(shapes.path, "/m");
}

}  // namespace
}  // namespace reel::model
