// SPDX-License-Identifier: Apache-2.0
// Torch builds of plug-ins, in a process that knows nothing of torch itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "kernels/activation/activation.h"
#include "server/worker/plugin_loader.h"
#include "tests/fakes/plugins/kernel_repository.h"
#include "tests/unit/server/worker/plugins/loaded_variants.h"

namespace reel::server {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kVariant[] = "torch211-cxx11-cpu-x86_64-linux";

// libtorch's registry is the process's: each test has a library of its own.
class TorchPluginTest : public ::testing::Test {
 protected:
  absl::StatusOr<kernels::PluginListing> Open(const std::string& plugin, const std::string& id,
                                              const std::string& name = "acts",
                                              const std::string& variant = kVariant) {
    testing::BuildToPack build;
    build.variant = variant;
    build.id = id;
    build.files = {{id + ".abi3.so", testing::TestPluginBytes(plugin)}};
    const std::string folder = absl::StrCat("repository-", ++folders_);
    repository_.Add(build, folder);
    return loader_.Open(repository_.Source(name, folder));
  }

  int folders_ = 0;
  testing::KernelRepository repository_;
  kernels::KernelCatalog catalog_ = kernels::BuiltInCatalog();
  PluginLoader loader_{catalog_, {}, nullptr};
};

struct GatedCall {
  absl::Status status;
  std::vector<float> out = std::vector<float>(4);
  std::string ran;
};

// silu(gate) * value over one row that has both halves.
GatedCall CallGated(const kernels::KernelCatalog& catalog,
                    const std::map<std::string, std::string>& variants,
                    kernels::Activation kind = kernels::Activation::kSilu) {
  std::vector<float> x = {1, 2, -3, 4, 5, 6, 7, 8};
  GatedCall call;
  const auto plan = catalog.Plan("", variants);
  if (!plan.ok()) {
    call.status = plan.status();
    return call;
  }
  kernels::KernelCounters counters;
  call.status = kernels::GatedActivation(
      {.x = kernels::Contiguous(x.data(), kernels::Dtype::kF32, {1, 8}),
       .value = {},
       .out = kernels::Contiguous(call.out.data(), kernels::Dtype::kF32, {1, 4}),
       .kind = kind},
      {.plan = *plan, .counters = counters, .timer = nullptr, .stream = {}});
  for (const kernels::VariantUse& use : counters.Uses()) call.ran += use.variant;
  return call;
}

TEST_F(TorchPluginTest, KnownOperatorsBecomeVariantsAndTwoVersionsLiveSideBySide) {
  const auto first = Open("example_torch_1", "_example_torch_cpu_1", "v1");
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = Open("example_torch_2", "_example_torch_cpu_2", "v2");
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_THAT(catalog_.VariantNames("gated_activation"),
              ::testing::ElementsAre("cpu", "loops", "v1", "v2"));
  EXPECT_THAT(catalog_.VariantNames("activation"), Contains("v1"));
  EXPECT_EQ(FindVariant(catalog_, "activation", "v1")->origin, "v1");
  EXPECT_EQ(CallNorm(catalog_, {{"rms_norm", "v2"}}).ran, "v2");
  const GatedCall built_in = CallGated(catalog_, {});
  for (const char* version : {"v1", "v2"}) {
    const GatedCall call = CallGated(catalog_, {{"gated_activation", version}});
    ASSERT_TRUE(call.status.ok()) << call.status;
    EXPECT_EQ(call.ran, version);
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(call.out[i], built_in.out[i], 1e-5f);
  }
  // It has no gated GELU, and says so before anything runs.
  const GatedCall other =
      CallGated(catalog_, {{"gated_activation", "v1"}}, kernels::Activation::kGeluTanh);
  EXPECT_EQ(other.status.code(), absl::StatusCode::kFailedPrecondition);
  // The same build under another name.
  const auto again = Open("example_torch_1", "_example_torch_cpu_1", "v3");
  EXPECT_EQ(again.status().code(), absl::StatusCode::kAlreadyExists);
  // And in another worker's catalog of this process: libtorch knows the namespace.
  kernels::KernelCatalog other_catalog = kernels::BuiltInCatalog();
  PluginLoader other_loader(other_catalog, {}, nullptr);
  const auto taken = other_loader.Open(repository_.Source("v1", "repository-1"));
  EXPECT_EQ(taken.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(taken.status().message()), HasSubstr("namespace is taken"));
}

TEST_F(TorchPluginTest, WhatComputesSomethingElseOrIsUnknownIsNotUsed) {
  const auto opened = Open("bad_torch_norm", "bad_torch_norm");
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(opened.status().message()),
              AllOf(HasSubstr("rms_norm: It computes something else"),
                    HasSubstr("silu_and_mul: another schema"), HasSubstr("unheard_of: not known")));
}

TEST_F(TorchPluginTest, ItsIdMustBeItsNamespace) {
  const auto opened = Open("example_norms", "not_its_namespace");
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("registers nothing under its id"));
}

TEST_F(TorchPluginTest, AnotherTorchIsRefusedByName) {
  const auto opened =
      Open("example_torch_1", "_example_torch_cpu_1", "acts", "torch28-cxx11-cpu-x86_64-linux");
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(opened.status().message()),
              HasSubstr("it is for torch 2.8, here is 2.11"));
}

}  // namespace
}  // namespace reel::server
