// SPDX-License-Identifier: Apache-2.0
// From a folder to variants; what is refused has its tests in plugin_refusals_test.
#include "kernels/plugins/native_plugin.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/plugins/plugin_build.h"
#include "kernels/rms_norm/rms_norm_launch.h"
#include "tests/fakes/plugins/kernel_repository.h"

namespace reel::kernels {
namespace {

TEST(NativePlugin, GivesItsVariantsAsTheTableSays) {
  testing::KernelRepository repository;
  repository.AddPlugin("example_norms");
  const auto build = FindPluginBuild(repository.Source("mine"), ThisHost());
  ASSERT_TRUE(build.ok()) << build.status();
  EXPECT_EQ(build->metadata.id, "example_norms");
  const auto variants = OpenNativePlugin(*build);
  ASSERT_TRUE(variants.ok()) << variants.status();
  ASSERT_EQ(variants->size(), 2U);
  const HostedVariantFacts& norm = (*variants)[0]->facts();
  EXPECT_EQ(norm.op, "rms_norm");
  EXPECT_EQ(norm.variant, "mine");
  EXPECT_EQ(norm.origin, "mine");
  EXPECT_EQ(norm.dtypes, MaskOf(Dtype::kF32));
  EXPECT_EQ(norm.params_size, sizeof(RmsNormParams));
  EXPECT_EQ((*variants)[1]->facts().variant, "mine.plain");
}

TEST(NativePlugin, TheFolderMayBeTheOneOfItsBuilds) {
  testing::KernelRepository repository;
  repository.AddPlugin("example_norms");
  EXPECT_TRUE(FindPluginBuild(repository.Source("mine", "repository/build"), ThisHost()).ok());
}

TEST(NativePlugin, BytecodeOfPythonDoesNotCount) {
  testing::KernelRepository repository;
  repository.AddPlugin("example_norms");
  std::filesystem::create_directory(repository.File("__pycache__"));
  std::ofstream(repository.File("__pycache__/x.cpython-311.pyc")) << "x";
  EXPECT_TRUE(FindPluginBuild(repository.Source("mine"), ThisHost()).ok());
  std::ofstream(repository.File("__pycache__/x.so")) << "x";
  EXPECT_EQ(FindPluginBuild(repository.Source("mine"), ThisHost()).status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace reel::kernels
