// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/built_in_catalog.h"
#include "kernels/cuda/buffer.h"
#include "kernels/dispatch/cuda_library.h"
#include "tests/unit/kernels/cuda_library_path.h"
#include "tests/unit/kernels/test_device.h"

namespace reel::kernels {
namespace {

void Check(const absl::Status& status) { ASSERT_TRUE(status.ok()) << status; }

class CudaDevice : public TestDevice {
 public:
  CudaDevice() {
    const auto library = LoadCudaLibrary(CudaLibraryPath());
    if (!library.ok()) {
      ADD_FAILURE() << library.status();
      return;
    }
    DeviceCapability capability{.device = 0, .sm = 0};
    if (const auto properties = PropertiesOf(**library, 0); properties.ok()) {
      capability.sm = properties->sm;
      auto stream = CudaStream::Create(0);
      if (stream.ok()) stream_.push_back(*std::move(stream));
    }
    catalog_ = BuiltInCatalog(capability, *library);
  }

  const KernelCatalog& catalog() const override { return catalog_; }
  bool present() const override { return !stream_.empty(); }
  DeviceStream stream() const override {
    return present() ? stream_[0].view().stream() : DeviceStream{.device = 0, .handle = nullptr};
  }

  // Buffers begin at multiples of 256, and so does the address that a tensor counts from.
  void* Upload(void* host, size_t bytes) override {
    const size_t shift = reinterpret_cast<uintptr_t>(host) % 256;
    auto buffer = DeviceBuffer::Create(0, bytes + shift);
    Check(buffer.status());
    void* data = static_cast<char*>(buffer->data()) + shift;
    Check(CopyAsync(data, host, bytes, stream_[0].view()));
    buffers_.push_back(*std::move(buffer));
    return data;
  }
  void Download(void* host, void* device, size_t bytes) override {
    Check(CopyAsync(host, device, bytes, stream_[0].view()));
    Check(stream_[0].Synchronize());
  }
  void Release() override { buffers_.clear(); }

 private:
  KernelCatalog catalog_;
  std::vector<CudaStream> stream_;  // none without a device
  std::vector<DeviceBuffer> buffers_;
};

}  // namespace

TestDevice& DeviceUnderTest() {
  static CudaDevice device;
  return device;
}

}  // namespace reel::kernels
