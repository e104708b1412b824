// SPDX-License-Identifier: Apache-2.0
// libreel_kernels_torch.so in a C++ program: no Python anywhere.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reel::kernels {
namespace {

class TorchLibraryTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(dlopen(REEL_TORCH_LIBRARY, RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
  }

  static at::Tensor Silu(const at::Tensor& x, const std::string& variant) {
    const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("reel_kernels::activation", "");
    torch::jit::Stack stack = {x, c10::IValue(), "silu", variant};
    op.callBoxed(stack);
    return stack.at(0).toTensor();
  }
};

TEST_F(TorchLibraryTest, AProgramCallsOperatorsAfterOpeningIt) {
  const at::Tensor y = Silu(at::ones({2, 8}), "loops");
  EXPECT_FLOAT_EQ(y[1][7].item<float>(), 0.7310586f);
}

TEST_F(TorchLibraryTest, ARefusalIsAnExceptionOfLibtorch) {
  try {
    Silu(at::ones({2, 8}), "nope");
    FAIL() << "an unknown variant was taken";
  } catch (const c10::ValueError& error) {
    EXPECT_THAT(error.what_without_backtrace(), testing::HasSubstr("it has: cpu, loops"));
  }
}

}  // namespace
}  // namespace reel::kernels
