// SPDX-License-Identifier: Apache-2.0
// The variants that a valid plug-in adds.
#include "server/worker/plugin_loader.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "tests/fakes/plugins/kernel_repository.h"
#include "tests/unit/server/worker/plugins/loaded_variants.h"

namespace reel::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PluginLoaderTest : public ::testing::Test {
 protected:
  testing::KernelRepository repository_;
  kernels::KernelCatalog catalog_ = kernels::BuiltInCatalog();
  PluginLoader loader_{catalog_, {}, nullptr};
};

TEST_F(PluginLoaderTest, ItsVariantsAreListedBehindTheBuiltInOnesWithTheirOrigin) {
  repository_.AddPlugin("example_norms");
  const auto opened = loader_.Open(repository_.Source("mine"));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(*opened, (kernels::PluginListing{
                         .name = "mine", .loaded = true, .reason = "", .id = "example_norms"}));
  EXPECT_THAT(catalog_.VariantNames("rms_norm"), ElementsAre("cpu", "loops", "mine"));
  EXPECT_THAT(catalog_.VariantNames("gate_residual"), ElementsAre("cpu", "loops", "mine.plain"));
  const kernels::VariantListing* variant = FindVariant(catalog_, "rms_norm", "mine");
  ASSERT_NE(variant, nullptr);
  EXPECT_EQ(variant->origin, "mine");
  EXPECT_TRUE(variant->runs);
  EXPECT_FALSE(variant->is_auto);
}

TEST_F(PluginLoaderTest, ARequestSelectsItsVariantAndGetsTheSameNumbers) {
  repository_.AddPlugin("example_norms");
  ASSERT_TRUE(loader_.Open(repository_.Source("mine")).ok());
  const NormCall automatic = CallNorm(catalog_, {});
  const NormCall mine = CallNorm(catalog_, {{"rms_norm", "mine"}});
  ASSERT_TRUE(automatic.status.ok()) << automatic.status;
  ASSERT_TRUE(mine.status.ok()) << mine.status;
  EXPECT_EQ(automatic.ran, "cpu");
  EXPECT_EQ(mine.ran, "mine");
  for (size_t i = 0; i < mine.out.size(); ++i) {
    EXPECT_NEAR(mine.out[i], automatic.out[i], 1e-6f) << i;
  }
}

TEST_F(PluginLoaderTest, NoProfileComesToItByItself) {
  repository_.AddPlugin("example_norms");
  ASSERT_TRUE(loader_.Open(repository_.Source("mine")).ok());
  EXPECT_EQ(CallNorm(catalog_, {}, "auto").ran, "cpu");
  EXPECT_EQ(CallNorm(catalog_, {}, "batch_invariant").ran, "cpu");
}

TEST_F(PluginLoaderTest, WhatItDoesNotTakeIsRefusedAndNotRunByAnotherVariant) {
  repository_.AddPlugin("example_norms");
  ASSERT_TRUE(loader_.Open(repository_.Source("mine")).ok());
  const auto plan = catalog_.Plan("", {{"rms_norm", "mine"}});
  ASSERT_TRUE(plan.ok());
  std::vector<uint16_t> x(8);  // bf16
  const kernels::TensorView view = kernels::Contiguous(x.data(), kernels::Dtype::kBf16, {1, 8});
  kernels::KernelCounters counters;
  const absl::Status status =
      kernels::RmsNorm({.x = view, .weight = {}, .bias = {}, .out = view},
                       {.plan = *plan, .counters = counters, .timer = nullptr, .stream = {}});
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("does not compute in bf16"));
  EXPECT_THAT(counters.Uses(), IsEmpty());
}

TEST_F(PluginLoaderTest, TwoVersionsWorkSideBySide) {
  repository_.AddPlugin("example_norms", "one");
  repository_.AddPlugin("example_norms_2", "two");
  const auto listings =
      loader_.OpenAll({repository_.Source("v1", "one"), repository_.Source("v2", "two")});
  ASSERT_EQ(listings.size(), 2U);
  EXPECT_TRUE(listings[0].loaded && listings[1].loaded) << listings[1].reason;
  EXPECT_EQ(CallNorm(catalog_, {{"rms_norm", "v1"}}).ran, "v1");
  EXPECT_EQ(CallNorm(catalog_, {{"rms_norm", "v2"}}).ran, "v2");
}

TEST_F(PluginLoaderTest, OneThatIsRefusedLeavesTheOthers) {
  repository_.AddPlugin("bad_version", "bad");
  repository_.AddPlugin("example_norms", "good");
  const auto listings =
      loader_.OpenAll({repository_.Source("bad", "bad"), repository_.Source("good", "good")});
  ASSERT_EQ(listings.size(), 2U);
  EXPECT_FALSE(listings[0].loaded);
  EXPECT_THAT(listings[0].reason, HasSubstr("another version"));
  EXPECT_TRUE(listings[1].loaded);
  EXPECT_EQ(CallNorm(catalog_, {{"rms_norm", "good"}}).ran, "good");
}

TEST_F(PluginLoaderTest, AReasonIsShortAndOfPlainCharacters) {
  for (int i = 0; i < 100; ++i) {
    std::filesystem::create_directories(
        absl::StrCat(repository_.root(), "/odd/build/\xff\n", i, std::string(100, 'x')));
  }
  const std::string reason = loader_.OpenAll({repository_.Source("odd", "odd")}).front().reason;
  EXPECT_LE(reason.size(), 2048U);
  EXPECT_THAT(reason, HasSubstr("??0xxx"));
}

TEST_F(PluginLoaderTest, APlanOutlivesTheCatalog) {
  repository_.AddPlugin("example_norms");
  kernels::KernelPlan plan;
  {
    kernels::KernelCatalog catalog = kernels::BuiltInCatalog();
    PluginLoader loader(catalog, {}, nullptr);
    ASSERT_TRUE(loader.Open(repository_.Source("mine")).ok());
    plan = *catalog.Plan("", {{"rms_norm", "mine"}});
  }
  std::vector<float> x(8, 2.0f);
  const kernels::TensorView view = kernels::Contiguous(x.data(), kernels::Dtype::kF32, {1, 8});
  kernels::KernelCounters counters;
  EXPECT_TRUE(kernels::RmsNorm({.x = view, .weight = {}, .bias = {}, .out = view},
                               {.plan = plan, .counters = counters, .timer = nullptr, .stream = {}})
                  .ok());
  EXPECT_NEAR(x[0], 1.0f, 1e-6f);
}

TEST_F(PluginLoaderTest, APluginMayNameAPythonInitialiserThatNobodyCalls) {
  repository_.AddPlugin("good_pyinit");
  const auto opened = loader_.Open(repository_.Source("mine"));
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("fails its test"));
}

TEST_F(PluginLoaderTest, TheProbeComesFirstAndItsWordCounts) {
  repository_.AddPlugin("example_norms");
  int probes = 0;
  PluginLoader loader(catalog_, {}, [&](const kernels::PluginSource& source) {
    EXPECT_EQ(source.name, "mine");
    ++probes;
    return absl::FailedPreconditionError("The plug-in failed its probe: it said no");
  });
  const auto opened = loader.Open(repository_.Source("mine"));
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("it said no"));
  EXPECT_EQ(probes, 1);
  EXPECT_EQ(FindVariant(catalog_, "rms_norm", "mine"), nullptr);
}

}  // namespace
}  // namespace reel::worker
