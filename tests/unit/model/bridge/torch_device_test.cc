// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/torch_device.h"

#include <ATen/ops/conv_transpose1d.h>

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/model/bridge/device_test.h"

namespace reel::model {
namespace {

// Of a vocoder, from many channels to half as many.
struct Upsampling {
  int64_t channels, length, width, factor;
};

using TorchDevice = DeviceTest;

// On a GPU cuDNN has algorithms whose sums differ from call to call.
TEST_F(TorchDevice, GivesAConvolutionTheSameBitsAtEachCall) {
  const c10::InferenceMode no_gradients;
  for (const auto& [channels, length, width, factor] :
       std::vector<Upsampling>{{1536, 101, 11, 5}, {192, 4040, 4, 2}, {96, 8080, 4, 2}}) {
    const at::Tensor x = at::randn({1, channels, length}).to(device_);
    const at::Tensor weight = at::randn({channels, channels / 2, width}).to(device_);
    const auto call = [&] {
      return at::conv_transpose1d(x, weight, {}, factor, (width - factor) / 2);
    };
    const at::Tensor first = call();
    for (int i = 0; i < 8; ++i) EXPECT_TRUE(call().equal(first)) << channels << ", call " << i;
  }
}

}  // namespace
}  // namespace reel::model
