// SPDX-License-Identifier: Apache-2.0
// The place of a test's tensors while an operator runs: on the CPU as they are, or copied to a
// GPU.
#pragma once

#include <cstddef>

#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_catalog.h"

namespace reel::kernels {

class TestDevice {
 public:
  virtual ~TestDevice() = default;
  // Every variant of this build; without a device, those of the device too, so that tests can say
  // what they skip.
  virtual const KernelCatalog& catalog() const = 0;
  // False: the machine lacks the device, and tests skip.
  virtual bool present() const = 0;
  virtual DeviceStream stream() const = 0;
  // A copy of `bytes` from the host at the same address modulo 256, or the pointer itself on a CPU.
  virtual void* Upload(void* host, size_t bytes) = 0;
  virtual void Download(void* host, void* device, size_t bytes) = 0;
  // Frees all uploads.
  virtual void Release() = 0;
};

// The device that this test program was built for. Lives until the program ends.
TestDevice& DeviceUnderTest();

}  // namespace reel::kernels
