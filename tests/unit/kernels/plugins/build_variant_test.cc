// SPDX-License-Identifier: Apache-2.0
#include "kernels/plugins/build_variant.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reel::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

PluginHost CpuHost() {
  PluginHost host;
  host.cpu = "x86_64";
  host.os = "linux";
  host.torch_major = 2;
  host.torch_minor = 11;
  return host;
}

PluginHost CudaHost() {
  PluginHost host = CpuHost();
  host.on_cuda = true;
  host.cuda_major = 13;
  host.cuda_minor = 1;
  host.sm = 90;
  return host;
}

std::vector<std::string> Fitting(const std::vector<std::string>& folders, const PluginHost& host) {
  std::vector<std::string> names;
  for (const BuildVariant& variant : ChooseBuilds(folders, host).fitting) {
    names.push_back(variant.folder);
  }
  return names;
}

TEST(ChooseBuilds, PrefersNativeThenStableThenUntaggedThenTaggedBuilds) {
  EXPECT_THAT(Fitting({"torch211-cxx11-cpu-x86_64-linux", "torch211-cpu-x86_64-linux",
                       "torch-stable-abi29-cpu-x86_64-linux",
                       "torch-stable-abi210-cpu-x86_64-linux", "reel1-cpu-x86_64-linux"},
                      CpuHost()),
              ElementsAre("reel1-cpu-x86_64-linux", "torch-stable-abi210-cpu-x86_64-linux",
                          "torch-stable-abi29-cpu-x86_64-linux", "torch211-cpu-x86_64-linux",
                          "torch211-cxx11-cpu-x86_64-linux"));
}

TEST(ChooseBuilds, TakesTheNewestCudaOfTheSameMajorThatIsNotNewerThanHere) {
  EXPECT_THAT(
      Fitting({"torch211-cxx11-cu130-x86_64-linux", "torch211-cxx11-cu131-x86_64-linux",
               "torch211-cxx11-cu132-x86_64-linux", "torch211-cxx11-cu128-x86_64-linux",
               "torch211-cxx11-cpu-x86_64-linux"},
              CudaHost()),
      ElementsAre("torch211-cxx11-cu131-x86_64-linux", "torch211-cxx11-cu130-x86_64-linux"));
}

TEST(ChooseBuilds, SaysForEachWhyNot) {
  const auto why = [](const std::string& folder, const PluginHost& host) {
    const BuildChoice choice = ChooseBuilds({folder}, host);
    EXPECT_THAT(choice.fitting, IsEmpty()) << folder;
    return choice.trace;
  };
  EXPECT_THAT(why("torch210-cxx11-cpu-x86_64-linux", CpuHost()),
              HasSubstr("it is for torch 2.10, here is 2.11"));
  EXPECT_THAT(why("torch211-cxx98-cpu-x86_64-linux", CpuHost()), HasSubstr("old C++ ABI"));
  EXPECT_THAT(why("torch-stable-abi212-cpu-x86_64-linux", CpuHost()),
              HasSubstr("stable ABI of torch 2.12"));
  EXPECT_THAT(why("torch211-cxx11-cpu-aarch64-linux", CpuHost()),
              HasSubstr("it is for aarch64-linux"));
  EXPECT_THAT(why("torch211-cxx11-cpu-x86_64-linux", CudaHost()), HasSubstr("it is for the CPU"));
  EXPECT_THAT(why("torch211-cxx11-cu130-x86_64-linux", CpuHost()), HasSubstr("it is for CUDA"));
  EXPECT_THAT(why("torch211-cxx11-cu120-x86_64-linux", CudaHost()),
              HasSubstr("it is for CUDA 12.0"));
  EXPECT_THAT(why("torch211-metal-aarch64-darwin", CpuHost()), HasSubstr("none of a build"));
  EXPECT_THAT(why("torch-universal", CpuHost()), HasSubstr("Python code"));
  EXPECT_THAT(why(std::string(1000, 'a'), CpuHost()), HasSubstr("too long"));
  PluginHost bare = CpuHost();
  bare.torch_major = 0;
  EXPECT_THAT(why("torch211-cxx11-cpu-x86_64-linux", bare), HasSubstr("it needs libtorch"));
}

TEST(CoversCapability, AsTheArchitecturesOfABuildSay) {
  EXPECT_TRUE(CoversCapability({"8.0"}, 80));
  EXPECT_TRUE(CoversCapability({"8.0"}, 89));
  EXPECT_FALSE(CoversCapability({"8.9"}, 80));
  EXPECT_FALSE(CoversCapability({"8.0"}, 90));
  EXPECT_TRUE(CoversCapability({"8.0+PTX"}, 90));
  EXPECT_TRUE(CoversCapability({"9.0a"}, 90));
  EXPECT_FALSE(CoversCapability({"9.0a"}, 91));
  EXPECT_TRUE(CoversCapability({"7.5", "9.0a"}, 90));
  EXPECT_TRUE(CoversCapability({"10.0f"}, 103));
  EXPECT_FALSE(CoversCapability({"nonsense", ""}, 90));
  EXPECT_FALSE(CoversCapability({}, 90));
}

}  // namespace
}  // namespace reel::kernels
