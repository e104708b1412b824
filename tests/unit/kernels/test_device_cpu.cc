// SPDX-License-Identifier: Apache-2.0
#include "kernels/built_in_catalog.h"
#include "tests/unit/kernels/test_device.h"

namespace reel::kernels {
namespace {

class CpuDevice : public TestDevice {
 public:
  const KernelCatalog& catalog() const override { return catalog_; }
  bool present() const override { return true; }
  DeviceStream stream() const override { return {}; }
  void* Upload(void* host, size_t) override { return host; }
  void Download(void*, void*, size_t) override {}
  void Release() override {}

 private:
  KernelCatalog catalog_ = BuiltInCatalog();
};

}  // namespace

TestDevice& DeviceUnderTest() {
  static CpuDevice device;
  return device;
}

}  // namespace reel::kernels
