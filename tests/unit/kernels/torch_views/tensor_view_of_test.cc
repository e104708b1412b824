// SPDX-License-Identifier: Apache-2.0
#include "kernels/torch_views/tensor_view_of.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/bridge/aten.h"

namespace reel::kernels {
namespace {

using testing::ElementsAre;

TEST(TensorViewOf, NamesTheTensorsOwnElements) {
  const at::Tensor whole = at::zeros({2, 3, 8}, at::kBFloat16);
  const at::Tensor part = whole.slice(1, 1).transpose(0, 1);
  const TensorView view = ViewOf(part);
  EXPECT_EQ(view.data, part.data_ptr());
  EXPECT_EQ(view.dtype, Dtype::kBf16);
  EXPECT_EQ(view.device, kCpuDevice);
  EXPECT_THAT(view.shape(), ElementsAre(2, 2, 8));
  EXPECT_EQ(view.stride(0), 8);
  EXPECT_EQ(view.stride(1), 24);
  EXPECT_EQ(view.stride(2), 1);
}

TEST(TensorViewOf, AnEmptyTensorPointsNowhere) {
  const TensorView view = ViewOf(at::zeros({0, 4}));
  EXPECT_EQ(view.data, nullptr);
  EXPECT_THAT(view.shape(), ElementsAre(0, 4));
}

TEST(TensorViewOf, KeepsARankThatOperatorsRefuse) {
  EXPECT_EQ(ViewOf(at::zeros({1, 1, 1, 1, 1, 1, 1, 1})).rank, 8);
}

TEST(TensorViewOf, ATypeThatNoKernelKnowsBecomesOneThatOperatorsRefuse) {
  EXPECT_EQ(DtypeOf(at::kBool), std::nullopt);
  EXPECT_EQ(ViewOf(at::zeros({1}, at::kBool)).dtype, Dtype::kF64);
}

TEST(TensorViewOf, AnUndefinedTensorHasNoView) {
  EXPECT_EQ(OptionalViewOf(at::Tensor()), std::nullopt);
  EXPECT_TRUE(OptionalViewOf(at::zeros({1})).has_value());
}

}  // namespace
}  // namespace reel::kernels
