// SPDX-License-Identifier: Apache-2.0
// Plug-ins of a worker with a GPU. Skips where there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/open_device.h"
#include "kernels/rms_norm/rms_norm.h"
#include "model/plugins.h"
#include "server/worker/plugin_loader.h"
#include "tests/fakes/plugins/kernel_repository.h"

namespace reel::server {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr int64_t kRows = 3, kWidth = 2048;

class PluginOnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = kernels::OpenDevice("cuda:0", REEL_CUDA_LIBRARY);
    if (!opened.ok()) GTEST_SKIP() << "SKIPPED: this machine has no CUDA device";
    device_ = *std::move(opened);
    auto memory = model::MakeCheckMemory(device_.stream);
    ASSERT_TRUE(memory.ok()) << memory.status();
    memory_ = *std::move(memory);
    loader_ = std::make_unique<PluginLoader>(device_.catalog, device_.stream, nullptr);
  }

  absl::StatusOr<kernels::PluginListing> Open(const testing::BuildToPack& build) {
    repository_.Add(build, build.id);
    return loader_->Open(repository_.Source("mine", build.id));
  }

  static testing::BuildToPack Build(const std::string& plugin, const std::string& id,
                                    const std::string& variant, const std::string& suffix) {
    testing::BuildToPack build;
    build.variant = variant;
    build.id = id;
    build.files = {{id + suffix, testing::TestPluginBytes(plugin)}};
    build.backend = R"({"type": "cuda", "archs": ["8.0", "9.0"]})";
    return build;
  }
  static testing::BuildToPack NativeBuild() {
    return Build("example_cuda_norm", "example_cuda_norm", "reel1-cu130-x86_64-linux", ".so");
  }
  static testing::BuildToPack TorchBuild(const std::string& plugin, const std::string& id) {
    return Build(plugin, id, "torch211-cxx11-cu130-x86_64-linux", ".abi3.so");
  }

  // rms_norm of rows in the device's memory under the choices of a request; what ran goes to `ran`.
  std::vector<float> Norm(const std::map<std::string, std::string>& variants, std::string& ran) {
    memory_->Clear();
    std::vector<float> x(kRows * kWidth), out(x.size()), weight(kWidth, 0.5f);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 97) / 16.0f - 3;
    const auto place = [&](std::vector<float>& data) {
      return *memory_->Place(absl::MakeConstSpan(reinterpret_cast<const std::byte*>(data.data()),
                                                 data.size() * sizeof(float)));
    };
    void* const there = place(x);
    void* const result = place(out);
    void* const channels = place(weight);
    const auto view = [](void* data) {
      return kernels::Contiguous(data, kernels::Dtype::kF32, {kRows, kWidth}, 0);
    };
    const auto plan = device_.catalog.Plan("", variants);
    EXPECT_TRUE(plan.ok()) << plan.status();
    if (!plan.ok()) return out;
    kernels::KernelCounters counters;
    const absl::Status status = kernels::RmsNorm(
        {.x = view(there),
         .weight = kernels::Contiguous(channels, kernels::Dtype::kF32, {kWidth}, 0),
         .bias = {},
         .out = view(result)},
        {.plan = *plan, .counters = counters, .timer = nullptr, .stream = device_.stream});
    EXPECT_TRUE(status.ok()) << status;
    for (const kernels::VariantUse& use : counters.Uses()) ran += use.variant;
    EXPECT_TRUE(memory_
                    ->Read(result, absl::MakeSpan(reinterpret_cast<std::byte*>(out.data()),
                                                  out.size() * sizeof(float)))
                    .ok());
    return out;
  }

  void ExpectTheVariantIsMine() {
    EXPECT_THAT(device_.catalog.VariantNames("rms_norm"), Contains("mine"));
    std::string built_in, mine;
    const std::vector<float> expected = Norm({}, built_in);
    const std::vector<float> got = Norm({{"rms_norm", "mine"}}, mine);
    EXPECT_NE(built_in, "mine");
    EXPECT_EQ(mine, "mine");
    for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-5f) << i;
  }

  kernels::OpenedDevice device_;
  std::unique_ptr<kernels::CheckMemory> memory_;
  testing::KernelRepository repository_;
  std::unique_ptr<PluginLoader> loader_;
};

TEST_F(PluginOnDevice, ANativeKernelRunsForARequestThatNamesIt) {
  const auto opened = Open(NativeBuild());
  ASSERT_TRUE(opened.ok()) << opened.status();
  ExpectTheVariantIsMine();
}

TEST_F(PluginOnDevice, AnOperatorOfTorchRunsForARequestThatNamesIt) {
  const auto opened = Open(TorchBuild("example_torch_cuda", "_example_torch_cuda"));
  ASSERT_TRUE(opened.ok()) << opened.status();
  ExpectTheVariantIsMine();
}

TEST_F(PluginOnDevice, WhatComputesSomethingElseThereIsNotUsed) {
  const auto opened = Open(TorchBuild("bad_torch_norm", "bad_torch_norm"));
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(opened.status().message()),
              HasSubstr("rms_norm: It computes something else"));
}

TEST_F(PluginOnDevice, ABuildForAnotherDeviceIsRefusedByName) {
  testing::BuildToPack older = NativeBuild();
  older.backend = R"({"type": "cuda", "archs": ["7.5a"]})";
  const auto opened = Open(older);
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("7.5a"));
  testing::BuildToPack of_cpu = NativeBuild();
  of_cpu.id = "of_cpu";
  of_cpu.variant = "reel1-cpu-x86_64-linux";
  EXPECT_THAT(std::string(Open(of_cpu).status().message()),
              HasSubstr("it is for the CPU, and this worker has a device"));
}

}  // namespace
}  // namespace reel::server
