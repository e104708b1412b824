// SPDX-License-Identifier: Apache-2.0
// The variants that a plan chooses; libtorch's and the kernels' compute the same.
#include "model/bridge/ops.h"

#include <ATen/Parallel.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/base/mutex.h"
#include "kernels/built_in_catalog.h"
#include "kernels/dispatch/clock_timer.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/bridge/framework_variants.h"
#include "model/bridge/host_threads.h"
#include "model/bridge/low_rank.h"
#include "model/bridge/torch_device.h"
#include "model/bridge/torch_guard.h"
#include "tests/unit/model/bridge/ops_fixture.h"

namespace reel::model {
namespace {

class OpsTest : public OpsFixture {
 protected:
  std::vector<Call> Calls() {
    std::vector<Call> calls = CallsOfABlock();
    for (Call& call : CallsOfSplitHeads()) calls.push_back(std::move(call));
    for (Call& call : CallsOfAttention()) calls.push_back(std::move(call));
    for (Call& call : Products()) calls.push_back(std::move(call));
    return calls;
  }

  std::vector<Call> Products() {
    const at::Tensor x = Values({kBatch, kTokens, kWidth}), video = Values({1, 6, 3, 4, 5});
    const at::Tensor matrix = Values({64, kWidth}) * 0.2, offset = Values({64});
    const at::Tensor longer = Values({kBatch, kTokens, 2 * kWidth});
    const at::Tensor below = Values({64, 2 * kWidth}) * 0.2;
    const LowRankColumns columns = {Values({2, 3, kAdapterSlot, kWidth}),
                                    Values({3, kWidth / 3, 2, kAdapterSlot}),
                                    {},
                                    std::make_shared<ColumnsInUse>(ColumnsInUse{{true}, 1})};
    const at::Tensor scales =
        at::randn({kBatch, 1, kAdapterSlot}, generator_, at::TensorOptions(at::kFloat)).to(device_);
    const at::Tensor taps = Values({4, 6, 3, 3, 3}) * 0.1, channels = Values({4});
    return {
        {"linear", [=](const Ops& ops) { return List(ops.Linear(x, matrix, offset)); }},
        {"linear", [=](const Ops& ops) { return List(ops.Linear(x, matrix, {})); }},
        // Rows and weights with something behind them.
        {"linear",
         [=](const Ops& ops) {
           return List(ops.Linear(longer.narrow(2, 0, kWidth), below.narrow(1, 0, kWidth), offset));
         }},
        {"linear_gelu",
         [=](const Ops& ops) {
           return List(
               ops.LinearGelu(longer.narrow(2, 0, kWidth), below.narrow(1, 0, kWidth), offset));
         }},
        {"conv3d",
         [=](const Ops& ops) {
           return List(ops.Conv3d(video, taps, channels, {1, 1, 1}, {0, 1, 1}));
         }},
        {"conv3d",
         [=](const Ops& ops) { return List(ops.Conv3d(video, taps, {}, {2, 2, 2}, {1, 1, 1})); }},
        {"linear_gelu", [=](const Ops& ops) { return List(ops.LinearGelu(x, matrix, offset)); }},
        {"low_rank_rows",
         [=](const Ops& ops) {
           const at::Tensor y = matrix.slice(0, 0, kBatch * kTokens).reshape({kBatch, kTokens, -1});
           const at::Tensor sum = y.clone();
           AddLowRank(ops, x, columns, scales, sum);
           return List(sum);
         }},
    };
  }

  // Heads whose halves are whole vectors of 16 bytes.
  std::vector<Call> CallsOfSplitHeads() {
    constexpr int64_t kHead = 16, kWide = kHeads * kHead;
    const at::Tensor wide = Values({kBatch, kTokens, kWide});
    const at::Tensor beside = Values({kBatch, kTokens, kWide});
    const at::Tensor wide_weight = Values({kWide}), beside_weight = Values({kWide});
    const at::Tensor logits = Values({kBatch, kTokens, kHeads});
    const at::Tensor times = at::randn({5, kWide / 2}, generator_, at::TensorOptions(at::kFloat));
    const at::Tensor index = at::arange(kTokens).remainder(5).view({1, kTokens, 1});
    const RopeTable halves =
        RopeTable(at::stack({times.cos(), times.sin()}, -1), index.to(at::kInt), kWide, kHead)
            .To(device_);
    return {
        {"qk_norm_rope",
         [=](const Ops& ops) {
           const auto [q, k] =
               ops.QkNormRope(wide, wide_weight, beside, beside_weight, 1e-5, halves);
           return std::vector{q, k};
         }},
        {"qk_norm_rope",
         [=](const Ops& ops) { return List(ops.NormRope(wide, wide_weight, 1e-5, halves)); }},
        {"head_gate", [=](const Ops& ops) { return List(ops.HeadGate(wide, logits)); }},
    };
  }

  std::vector<Call> CallsOfABlock() {
    const at::Tensor x = Values({kBatch, kTokens, kWidth}), y = Values({kBatch, kTokens, kWidth});
    const at::Tensor weight = Values({kWidth}), bias = Values({kWidth});
    // A slice of a table of rows, as a transformer block has it.
    const std::vector<at::Tensor> rows = Values({kBatch, 1, 3, kWidth}).unbind(2);
    const at::Tensor angles = at::randn({5, kWidth / 6}, generator_, at::TensorOptions(at::kFloat));
    const at::Tensor index = at::arange(3 * kTokens).remainder(5).view({1, kTokens, 3});
    const RopeTable table =
        RopeTable(at::stack({angles.cos(), angles.sin()}, -1), index.to(at::kInt), kWidth)
            .To(device_);
    const at::Tensor video = Pixels({1, 8, 3, 4, 5});
    const at::Tensor scale = Values({1, 8, 1, 1, 1}), shift = Values({1, 8, 1, 1, 1});
    const FrameSum block = {video, Pixels({1, 8, 3, 4, 5}), Values({8})};
    const FrameSum deep = {Pixels({1, 32, 2, 3, 4}), Pixels({1, 16, 2, 3, 4}), Values({32})};
    return {
        {"rms_norm", [=](const Ops& ops) { return List(ops.RmsNorm(x, weight, 1e-5)); }},
        {"rms_norm", [=](const Ops& ops) { return List(ops.RmsNorm(x, {}, 1e-6)); }},
        {"rms_norm",
         [=](const Ops& ops) { return List(ops.RmsNormRoundedFirst(x, weight, 1e-6)); }},
        {"layer_norm", [=](const Ops& ops) { return List(ops.LayerNorm(x, weight, bias, 1e-6)); }},
        {"adaln_rms_norm",
         [=](const Ops& ops) { return List(ops.AdalnRmsNorm(x, {rows[0], rows[1], 1e-6})); }},
        {"adaln_layer_norm",
         [=](const Ops& ops) { return List(ops.AdalnLayerNorm(x, rows[0], rows[1], 1e-6)); }},
        {"gate_residual", [=](const Ops& ops) { return List(ops.GateResidual(x, y, rows[2])); }},
        {"gate_residual", [=](const Ops& ops) { return List(ops.GateResidual(x, y, {})); }},
        {"gate_residual_adaln",
         [=](const Ops& ops) {
           const auto [sum, out] = ops.GateResidualAdaln(x, y, {}, {rows[0], rows[1], 1e-6});
           return std::vector{sum, out};
         }},
        {"qk_norm_rope",
         [=](const Ops& ops) {
           const auto [q, k] = ops.QkNormRope(x, weight, y, bias, 1e-5, table);
           return std::vector{q, k};
         }},
        {"activation", [=](const Ops& ops) { return List(ops.GeluTanh(x)); }},
        {"gated_activation", [=](const Ops& ops) { return List(ops.GatedGelu(x, y)); }},
        {"channel_norm_silu",
         [=](const Ops& ops) { return List(ops.ChannelNormSilu(video, {}, {})); }},
        {"channel_norm_silu",
         [=](const Ops& ops) { return List(ops.ChannelNormSilu(video, scale, shift)); }},
        {"channel_norm_silu", [=](const Ops& ops) { return NormedSum(ops, block, scale, shift); }},
        {"depth_to_space", [=](const Ops& ops) { return List(ops.DepthToSpace(deep, true)); }},
        {"depth_to_space", [=](const Ops& ops) { return List(ops.DepthToSpace({deep.x}, false)); }},
    };
  }

  // The sum, and the frames with one copy before them and two behind.
  static std::vector<at::Tensor> NormedSum(const Ops& ops, const FrameSum& frames,
                                           const at::Tensor& scale, const at::Tensor& shift) {
    std::vector<int64_t> sizes = frames.x.sizes().vec();
    sizes[2] += 3;
    const auto pixels = at::MemoryFormat::ChannelsLast3d;
    const PaddedFrames out = {at::empty(sizes, frames.x.options(), pixels), 1, 2};
    const at::Tensor sum = at::empty_like(frames.x);
    ops.ChannelNormSiluInto(frames, scale, shift, out, sum);
    return {sum, out.all};
  }
};

TEST_P(OpsTest, EveryVariantConvertsFramesAlike) {
  const at::Tensor pictures = Values({1, 3, 2, 6, 8});
  for (const std::string& variant : Variants("frame_convert")) {
    const auto all = [&](const Ops& ops) {
      return std::vector{ops.Rgb8(pictures), ops.I420(pictures)};
    };
    const auto expected = Run({"frame_convert", all}, std::string(kAtenVariant));
    if (!Takes({"frame_convert", all}, variant)) continue;
    const auto actual = Run({"frame_convert", all}, variant);
    EXPECT_TRUE(actual[0].equal(expected[0])) << variant;
    EXPECT_EQ(actual[1].sizes(), at::IntArrayRef({2, 72}));
    const at::Tensor apart = (actual[1].to(at::kInt) - expected[1].to(at::kInt)).abs();
    EXPECT_LE(apart.max().item<int>(), 1) << variant;
  }
}

// In fp32 the order of sums differs; in 16 bits libtorch's variants round in between as well.
double BoundOf(at::ScalarType type) { return type == at::kFloat ? 1e-5 : 0.06; }

TEST_P(OpsTest, EveryVariantOfTheCatalogComputesWhatLibtorchDoes) {
  for (const Call& call : Calls()) {
    const std::vector<at::Tensor> expected = Run(call, std::string(kAtenVariant));
    for (const std::string& variant : Variants(call.op)) {
      if (!Takes(call, variant)) continue;
      const std::vector<at::Tensor> actual = Run(call, variant);
      ASSERT_EQ(actual.size(), expected.size());
      for (size_t i = 0; i < actual.size(); ++i) {
        ASSERT_EQ(actual[i].sizes(), expected[i].sizes());
        ASSERT_EQ(actual[i].scalar_type(), GetParam());
        const at::Tensor wide = expected[i].to(at::kDouble);
        const double worst =
            ((actual[i].to(at::kDouble) - wide).abs() / (wide.abs() + 1)).max().item<double>();
        EXPECT_LT(worst, BoundOf(GetParam())) << call.op << "=" << variant << ", result " << i;
      }
    }
  }
}

TEST_P(OpsTest, CountsTheVariantThatRan) {
  for (const Call& call : Calls()) {
    for (const std::string& variant : Variants(call.op)) {
      if (!Takes(call, variant)) continue;
      counters_ = {};
      Run(call, variant);
      const auto uses = counters_.Uses();
      ASSERT_EQ(uses.size(), 1u) << call.op;
      EXPECT_EQ(uses[0].op, call.op);
      EXPECT_EQ(uses[0].variant, variant);
      EXPECT_EQ(uses[0].calls, 1);
    }
  }
}

TEST_P(OpsTest, TheProfileReferenceRunsLibtorchAlone) {
  const auto plan = catalog_->Plan("reference", {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  const kernels::Execution run{*plan, counters_, nullptr, stream_};
  for (const Call& call : Calls()) call.run(Ops(run));
  for (const auto& use : counters_.Uses()) EXPECT_EQ(use.variant, kAtenVariant) << use.op;
}

// What a listing marks is what "auto" runs. On a device the mark is for 16-bit types and on a CPU
// for fp32, which is what models have there.
TEST_P(OpsTest, AutoRunsWhatTheListingMarks) {
  if (device_.is_cuda() == (GetParam() == at::kFloat)) GTEST_SKIP() << "SKIPPED: another type";
  const auto plan = catalog_->Plan("auto", {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  const kernels::Execution run{*plan, counters_, nullptr, stream_};
  std::set<std::string> called;
  for (const Call& call : Calls()) {
    counters_ = {};
    call.run(Ops(run));
    const auto uses = counters_.Uses();
    ASSERT_EQ(uses.size(), 1u) << call.op;
    EXPECT_EQ(uses[0].variant, MarkedAuto(call.op)) << call.op;
    called.insert(call.op);
  }
  counters_ = {};
  Ops(run).Rgb8(Values({1, 3, 2, 8, 8}));
  EXPECT_EQ(counters_.Uses()[0].variant, MarkedAuto("frame_convert"));
  called.insert("frame_convert");
  // Every operator that libtorch has a variant of is called by models, and is here. "auto" runs
  // none of the lossy ones.
  for (const auto& listing : catalog_->List()) {
    for (const auto& variant : listing.variants) {
      if (variant.origin != "framework" || variant.is_lossy) continue;
      EXPECT_THAT(called, ::testing::Contains(listing.op));
    }
  }
}

TEST_P(OpsTest, TimesTheVariantsOfLibtorchToo) {
  const Call call = Calls()[0];
  const auto plan = catalog_->Plan("reference", {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  kernels::ClockTimer timer;
  const kernels::Execution run{*plan, counters_, &timer, stream_};
  call.run(Ops(run));
  const auto times = timer.Take();
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].variant, kAtenVariant);
  EXPECT_GT(times[0].total_ns, 0);
}

INSTANTIATE_TEST_SUITE_P(Types, OpsTest, ::testing::Values(at::kFloat, at::kBFloat16, at::kHalf),
                         [](const auto& type) { return at::toString(type.param); });

TEST(OpsRefusals, AKernelsRefusalComesOutOfTheGuardAsItWas) {
  const kernels::KernelCatalog catalog = kernels::BuiltInCatalog();
  const auto plan = catalog.Plan("auto", {{"rms_norm", "loops"}});
  ASSERT_TRUE(plan.ok());
  kernels::KernelCounters counters;
  const kernels::Execution run{*plan, counters, nullptr, {}};
  const Ops ops(run);
  const absl::Status status = TorchGuard([&] {
    ops.RmsNorm(at::ones({2, 8}), at::ones({4}), 1e-6);
    return absl::OkStatus();
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("weight"));
}

TEST(LibtorchThreads, DivideRowsAmongAllThatTheProcessHas) {
  const int threads_before = at::get_num_threads();
  at::set_num_threads(2);
  Mutex mutex;
  std::set<std::thread::id> seen;
  std::vector<int> counts(1000);
  kernels::DivideRows(&LibtorchThreads(), 1000, kernels::kElementsOfAThread,
                      [&](int64_t first, int64_t end) {
                        for (int64_t i = first; i < end; ++i) ++counts[static_cast<size_t>(i)];
                        const MutexLock lock(mutex);
                        seen.insert(std::this_thread::get_id());
                      });
  EXPECT_EQ(seen.size(), 2U);
  EXPECT_EQ(counts, std::vector<int>(1000, 1));
  at::set_num_threads(threads_before);
}

TEST(FrameworkVariants, StandAmongTheOthersByWhatIsFast) {
  kernels::KernelCatalog cpu = kernels::BuiltInCatalog();
  AddFrameworkVariants(cpu);
  kernels::KernelCatalog gpu = kernels::BuiltInCatalog({.device = 0, .sm = 90});
  AddFrameworkVariants(gpu);
  using ::testing::ElementsAre;
  EXPECT_THAT(cpu.VariantNames("rms_norm"), ElementsAre("cpu", kAtenVariant, "loops"));
  EXPECT_THAT(cpu.VariantNames("frame_convert"), ElementsAre("cpu", "loops", kAtenVariant));
  EXPECT_THAT(cpu.VariantNames("qk_norm_rope"), ElementsAre(kRowsVariant, kAtenVariant, "loops"));
  EXPECT_THAT(cpu.VariantNames("channel_norm_silu"), ElementsAre("cpu", "loops", kAtenVariant));
  EXPECT_THAT(cpu.VariantNames("depth_to_space"), ElementsAre(kAtenVariant, "loops"));
  for (const std::string op : {"rms_norm", "qk_norm_rope", "channel_norm_silu", "frame_convert"}) {
    EXPECT_EQ(gpu.VariantNames(op).back(), kAtenVariant);
  }
  for (const std::string op : {"attention", "cross_attention"}) {
    EXPECT_THAT(cpu.VariantNames(op),
                ElementsAre("cudnn", "flash", "mem_efficient", "math", "aten", "loops"));
    for (const auto& listing : cpu.List()) {
      if (listing.op != op) continue;
      EXPECT_FALSE(listing.variants[0].runs);
      EXPECT_TRUE(listing.variants[1].is_auto);
    }
    for (const auto& listing : gpu.List()) {
      if (listing.op != op) continue;
      for (const auto& variant : listing.variants) {
        EXPECT_EQ(variant.is_auto, variant.name == "cudnn") << variant.name;
      }
    }
    // Of a process without CUDA kernels. Tiles alone are for many keys.
    EXPECT_EQ(gpu.VariantNames(op).front(), op == "attention" ? "cudnn_tiles" : "cudnn");
  }
}

}  // namespace
}  // namespace reel::model
