// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/attention_ops.h"

#include <set>
#include <string>
#include <vector>

#include "kernels/dispatch/kernel_profiles.h"
#include "model/bridge/framework_variants.h"
#include "tests/unit/model/bridge/ops_fixture.h"

namespace reel::model {
namespace {

class AttentionOpsTest : public OpsFixture {};

TEST_P(AttentionOpsTest, AutoNamesTheAttentionThatLibtorchChose) {
  const auto plan = catalog_->Plan("auto", {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  const kernels::Execution run{*plan, counters_, nullptr, stream_};
  for (const Call& call : CallsOfAttention()) {
    if (call.op != "attention") continue;  // on a device a prompt's is ours
    const std::vector<at::Tensor> expected = Run(call, std::string(kAtenVariant));
    counters_ = {};
    EXPECT_TRUE(call.run(Ops(run))[0].equal(expected[0])) << call.op;
    const auto uses = counters_.Uses();
    ASSERT_EQ(uses.size(), 1u);
    EXPECT_EQ(uses[0].op, call.op);
    EXPECT_THAT(uses[0].variant,
                ::testing::AnyOf(kCudnnVariant, kFlashVariant, kMemEfficientVariant, kMathVariant));
    // What it names is what it took.
    EXPECT_TRUE(Run(call, uses[0].variant)[0].equal(expected[0])) << uses[0].variant;
  }
}

// As a model lays its tensors out: heads of a projection, parts of a packed one, a bias for each
// key.
TEST_P(AttentionOpsTest, OwnCrossAttentionTakesTheTensorsOfAModel) {
  const at::Tensor queries = Values({kBatch, 70, kHeads * 64}).unflatten(2, {kHeads, 64});
  const std::vector<at::Tensor> packed = Values({kBatch, 128, 2, kHeads, 64}).unbind(2);
  const at::Tensor bias = Values({kBatch, 1, 1, 128});
  const auto attend = [=](const Ops& ops) {
    return List(CrossAttention(ops, queries, packed[0], packed[1], {bias, {}}, 0));
  };
  const Call call{"cross_attention", attend};
  const at::Tensor expected = Run(call, std::string(kMathVariant))[0].to(at::kDouble);
  for (const std::string& variant : Variants("cross_attention")) {
    if (variant != "sm80" && variant != "generic" && variant != "loops") continue;
    const bool takes = Takes(call, variant);
    EXPECT_EQ(takes, variant != "sm80" || GetParam() != at::kFloat) << variant;
    if (!takes) continue;
    const at::Tensor actual = Run(call, variant)[0];
    EXPECT_EQ(actual.strides(), queries.strides()) << variant;
    const double off = (actual.to(at::kDouble) - expected).abs().max().item<double>();
    EXPECT_LT(off, GetParam() == at::kFloat ? 1e-4 : 0.02) << variant;
  }
}

// cuDNN's kernel takes 128 keys at a time. Of many that are no whole tiles it meets those that are,
// and the rest is an operator of its own.
TEST_P(AttentionOpsTest, ManyKeysThatFillNoTilesAreMetInTwoPasses) {
  if (!device_.is_cuda() || GetParam() == at::kFloat) GTEST_SKIP() << "SKIPPED: cuDNN's";
  const auto plan = catalog_->Plan("auto", {});
  const kernels::Execution run{*plan, counters_, nullptr, stream_};
  for (const int64_t keys : {4096, 4097, 4160, 4223, 2000}) {
    const auto heads = [&](int64_t tokens) { return Values({kBatch, tokens, kHeads, 64}); };
    const at::Tensor q = heads(70), k = heads(keys), v = heads(keys);
    const Call attend = {"attention",
                         [=](const Ops& ops) { return List(Attention(ops, q, k, v, {}, 0)); }};
    const auto wide = [](const at::Tensor& t) { return t.to(at::kDouble).transpose(1, 2); };
    const at::Tensor exact = (wide(q) * 0.125)
                                 .matmul(wide(k).transpose(-2, -1))
                                 .softmax(-1)
                                 .matmul(wide(v))
                                 .transpose(1, 2);
    const auto error = [&](const at::Tensor& of) {
      return (of.to(at::kDouble) - exact).pow(2).mean().sqrt().item<double>();
    };
    counters_ = {};
    const at::Tensor actual = Attention(Ops(run), q, k, v, {}, 0);
    std::set<std::string> ran;
    for (const auto& use : counters_.Uses()) ran.insert(use.op + "=" + use.variant);
    if (keys > 4096) {
      EXPECT_EQ(ran, (std::set<std::string>{"attention=cudnn_tiles", "attention_rest=sm80"}));
    } else {
      EXPECT_EQ(ran, std::set<std::string>{"attention=cudnn"}) << keys;
    }
    // Outputs are rounded once by cuDNN and once behind it: two errors of one size, and no other.
    EXPECT_LT(error(actual), 1.42 * error(Run(attend, "cudnn")[0])) << keys;
  }
}

// Of the profiles that say so, in 16 bits on Hopper, of heads of 64 and many keys.
TEST_P(AttentionOpsTest, ManyKeysAreMetIn8BitsWhereAProfileSaysSo) {
  const auto heads = [&](int64_t tokens, int64_t width = 64) {
    return Values({kBatch, tokens, kHeads, width});
  };
  const at::Tensor q = heads(70), bias = Values({kBatch, 1, 1, 700});
  struct Shape {
    at::Tensor q, k, bias;
    bool in_8_bits;
  };
  const Shape shapes[] = {{q, heads(700), {}, true},
                          {q, heads(700), bias, false},
                          {q, heads(200), {}, false},
                          {heads(70, 32), heads(700, 32), {}, false}};
  for (const std::string& profile : kernels::BuiltInProfiles()) {
    const auto plan = catalog_->Plan(profile, {});
    if (!plan.ok()) continue;  // refused where its variant does not run
    const kernels::Execution run{*plan, counters_, nullptr, stream_};
    for (const auto& [queries, keys, added, in_8_bits] : shapes) {
      counters_ = {};
      const at::Tensor out = Attention(Ops(run), queries, keys, keys, added, 0);
      const auto uses = counters_.Uses();
      ASSERT_FALSE(uses.empty());
      const auto expect = [&](const char* variant, bool profile_asks) {
        const bool asks = profile_asks && GetParam() != at::kFloat;
        EXPECT_EQ(uses[0].variant == variant, asks && in_8_bits) << profile << keys.sizes();
      };
      expect("sm90_e4m3", kernels::HasE4m3Attention(profile));
      expect("sm90_int8", kernels::HasInt8Attention(profile));
      EXPECT_EQ(out.strides(), queries.strides());
    }
  }
  // A variant that a request names itself is the one that it has.
  if (const auto plan = catalog_->Plan("fp8_attention", {{"attention", "aten"}}); plan.ok()) {
    counters_ = {};
    Attention(Ops({*plan, counters_, nullptr, stream_}), q, shapes[0].k, shapes[0].k, {}, 0);
    EXPECT_EQ(counters_.Uses()[0].variant, "aten");
  }
}

TEST_P(AttentionOpsTest, OtherHeadsAndLongPromptsAreAttention) {
  const auto plan = catalog_->Plan("auto", {});
  const kernels::Execution run{*plan, counters_, nullptr, stream_};
  const at::Tensor narrow = Values({1, 5, 2, 16}), many = Values({1, 129, 2, 64});
  CrossAttention(Ops(run), narrow, narrow, narrow, {}, 0);
  CrossAttention(Ops(run), many, many, many, {}, 0);
  const auto uses = counters_.Uses();
  for (const auto& use : uses) EXPECT_EQ(use.op, "attention");
}

INSTANTIATE_TEST_SUITE_P(Types, AttentionOpsTest,
                         ::testing::Values(at::kFloat, at::kBFloat16, at::kHalf),
                         [](const auto& type) { return at::toString(type.param); });

}  // namespace
}  // namespace reel::model
