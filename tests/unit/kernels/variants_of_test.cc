// SPDX-License-Identifier: Apache-2.0
// An operator's test runs over the variants of its device, whatever they are called.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/dispatch/kernel_variant.h"
#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {
namespace {

struct Nothing {};
void Run(const Nothing&) {}
bool Accepts(const Nothing&) { return true; }
int32_t Launch(const Nothing&, void*) { return 0; }

// A CPU of a build whose operator also has a variant for GPUs.
class ToyDevice : public TestDevice {
 public:
  ToyDevice() {
    static constexpr KernelVariant kCuda[] = {GenericCudaVariant<Launch>()};
    static constexpr KernelVariant kCpu[] = {CpuVariant<Run, Accepts>("cpu_in_tiles"),
                                             CpuVariant<Run>("loops")};
    catalog_.AddVariants(MakeVariants<Nothing>("toy", kCuda), "built-in");
    catalog_.AddVariants(MakeVariants<Nothing>("toy", kCpu), "built-in");
  }
  const KernelCatalog& catalog() const override { return catalog_; }
  bool present() const override { return true; }
  DeviceStream stream() const override { return {}; }
  void* Upload(void* host, size_t) override { return host; }
  void Download(void*, void*, size_t) override {}
  void Release() override {}

 private:
  KernelCatalog catalog_;
};

TEST(VariantsOf, HasEveryCpuVariantOnACpuWhateverItsName) {
  std::vector<std::string> names;
  for (const OpVariant& variant : VariantsOf("toy")) {
    if (variant.dtype == Dtype::kF32) names.push_back(variant.variant);
  }
  EXPECT_THAT(names, testing::ElementsAre("cpu_in_tiles", "loops"));
}

}  // namespace

TestDevice& DeviceUnderTest() {
  static ToyDevice device;
  return device;
}

}  // namespace reel::kernels
