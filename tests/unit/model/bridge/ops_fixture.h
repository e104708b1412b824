// SPDX-License-Identifier: Apache-2.0
// Shared parts of tests of operators on tensors: values, and calls with one variant forced.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/bridge/attention_ops.h"
#include "model/bridge/torch_device.h"
#include "model/bridge/torch_guard.h"
#include "tests/unit/model/bridge/device_under_test.h"

namespace reel::model {

inline constexpr int64_t kBatch = 2, kTokens = 7, kWidth = 48, kHeads = 4;

// One operator called as a model calls it, on the same values each time.
struct Call {
  std::string op;
  std::function<std::vector<at::Tensor>(const Ops&)> run;
};

class OpsFixture : public ::testing::TestWithParam<at::ScalarType> {
 protected:
  void SetUp() override {
    if (!DeviceUnderTest().ok()) {
      GTEST_SKIP() << "SKIPPED: this machine lacks the device: " << DeviceUnderTest().status();
    }
    catalog_ = &DeviceUnderTest()->catalog;
    stream_ = DeviceUnderTest()->stream;
    const auto device = TorchDeviceOf(stream_);
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *device;
  }

  at::Tensor Values(at::IntArrayRef shape) {
    return at::randn(shape, generator_, at::TensorOptions(at::kFloat)).to(device_, GetParam());
  }

  // Frames as the decoder has them on a device: the channels of a pixel side by side.
  at::Tensor Pixels(at::IntArrayRef shape) {
    return Values(shape).contiguous(at::MemoryFormat::ChannelsLast3d);
  }

  // Whether a variant takes the call: those of libtorch have types and forms of their own.
  bool Takes(const Call& call, const std::string& variant) {
    try {
      Run(call, variant);
    } catch (const KernelError& refusal) {
      EXPECT_EQ(refusal.status().code(), absl::StatusCode::kFailedPrecondition) << refusal.status();
      EXPECT_THAT(std::string(refusal.status().message()), ::testing::HasSubstr("these can: "));
      return false;
    }
    return true;
  }

  // Those that run here.
  std::vector<std::string> Variants(const std::string& op) const {
    std::vector<std::string> names;
    for (const auto& listing : catalog_->List()) {
      for (const auto& variant : listing.variants) {
        if (listing.op == op && variant.runs) names.push_back(variant.name);
      }
    }
    return names;
  }

  std::string MarkedAuto(const std::string& op) const {
    for (const auto& listing : catalog_->List()) {
      for (const auto& variant : listing.variants) {
        if (listing.op == op && variant.is_auto) return variant.name;
      }
    }
    return "";
  }

  std::vector<Call> CallsOfAttention() {
    const auto heads = [&](int64_t tokens) { return Values({kBatch, tokens, kHeads, 64}); };
    const at::Tensor queries = heads(kTokens) * 0.3, keys = heads(5), values = heads(5);
    const at::Tensor before = heads(kTokens);
    const at::Tensor log_sums = Values({kBatch, kTokens, kHeads}).to(at::kFloat) + 1;
    const KeyMask pad = {Values({kBatch, 1, 1, 5}), {}};
    return {
        {"attention",
         [=](const Ops& ops) { return List(Attention(ops, queries, keys, values, {}, 0)); }},
        {"attention",
         [=](const Ops& ops) {
           return List(Attention(ops, queries, keys, values, pad.bias, 1.0));
         }},
        {"cross_attention",
         [=](const Ops& ops) { return List(CrossAttention(ops, queries, keys, values, pad, 0)); }},
        {"attention_rest",
         [=](const Ops& ops) {
           return List(AttentionRest(ops, queries, keys, values, {before, log_sums}, 0));
         }},
    };
  }

  std::vector<at::Tensor> Run(const Call& call, const std::string& variant) {
    const auto plan = catalog_->Plan("auto", {{call.op, variant}});
    EXPECT_TRUE(plan.ok()) << plan.status();
    const kernels::Execution run{*plan, counters_, nullptr, stream_};
    return call.run(Ops(run));
  }

  static std::vector<at::Tensor> List(at::Tensor tensor) { return {std::move(tensor)}; }

  at::Generator generator_ = at::detail::createCPUGenerator(11);
  const kernels::KernelCatalog* catalog_ = nullptr;
  kernels::DeviceStream stream_;
  at::Device device_ = at::kCPU;
  kernels::KernelCounters counters_;
};

}  // namespace reel::model
