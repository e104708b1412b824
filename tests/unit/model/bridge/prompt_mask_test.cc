// SPDX-License-Identifier: Apache-2.0
// The padding of a prompt, said as a bias and as lengths.
#include <string>

#include "gtest/gtest.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/bridge/attention_ops.h"
#include "model/bridge/torch_device.h"
#include "tests/unit/model/bridge/device_under_test.h"

namespace reel::model {
namespace {

constexpr int64_t kPromptHeads = 4, kKeys = 128;

TEST(PromptMask, LengthsSayWhatTheBiasSays) {
  if (!DeviceUnderTest().ok()) {
    GTEST_SKIP() << "SKIPPED: this machine lacks the device: " << DeviceUnderTest().status();
  }
  const at::Device device = *TorchDeviceOf(DeviceUnderTest()->stream);
  at::Generator generator = at::detail::createCPUGenerator(11);
  const auto heads = [&](int64_t tokens) {
    return at::randn({2, tokens, kPromptHeads, 64}, generator, at::TensorOptions(at::kFloat))
        .to(device, at::kBFloat16);
  };
  const at::Tensor q = heads(70), k = heads(kKeys), v = heads(kKeys);
  const at::Tensor lengths = at::tensor({128, 5}, at::TensorOptions(at::kInt));
  const at::Tensor counts = at::arange(kKeys).lt(lengths.unsqueeze(1));  // [B, L]
  const at::Tensor bias = at::where(counts, 0.0, -10000.0).view({2, 1, 1, kKeys});
  const KeyMask by_bias = {bias.to(q.options()), {}}, by_both = {by_bias.bias, lengths.to(device)};
  int ran = 0;
  for (const std::string variant : {"sm80", "generic", "loops", "aten"}) {
    const auto plan = DeviceUnderTest()->catalog.Plan("auto", {{"cross_attention", variant}});
    if (!plan.ok()) continue;  // of another device
    kernels::KernelCounters counters;
    const kernels::Execution run{*plan, counters, nullptr, DeviceUnderTest()->stream};
    const Ops ops(run);
    const at::Tensor expected = CrossAttention(ops, q, k, v, by_bias, 0);
    EXPECT_TRUE(CrossAttention(ops, q, k, v, by_both, 0).equal(expected)) << variant;
    ++ran;
  }
  EXPECT_GE(ran, 2);
}

}  // namespace
}  // namespace reel::model
