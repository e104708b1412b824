// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/call_operands.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/rope/rope.h"

namespace reel::model {
namespace {

using testing::ElementsAre;

TEST(CallOperands, AreViewsOfTheSameMemory) {
  const at::Tensor x = at::randn({2, 8}), weight = at::randn({8});
  at::Tensor out = at::empty({2, 8});
  const auto views = ViewsOf<kernels::RmsNormOperands>({.x = x, .weight = &weight, .out = out});
  EXPECT_EQ(views.x.data, x.data_ptr());
  EXPECT_THAT(views.x.shape(), ElementsAre(2, 8));
  ASSERT_TRUE(views.weight.has_value());
  EXPECT_EQ(views.weight->data, weight.data_ptr());
  EXPECT_EQ(views.out.data, out.data_ptr());
}

TEST(CallOperands, AreAbsentWhereATensorIsNullOrUndefined) {
  const at::Tensor x = at::randn({2, 8}), none;
  at::Tensor out = at::empty({2, 8});
  const auto views = ViewsOf<kernels::RmsNormOperands>({.x = x, .weight = &none, .out = out});
  EXPECT_FALSE(views.weight.has_value());
  EXPECT_FALSE(views.bias.has_value());
  EXPECT_FALSE(views.out_scale.has_value());
}

TEST(CallOperands, KeepTheOptionsOfTheCall) {
  const at::Tensor q = at::randn({1, 2, 1, 4});
  at::Tensor out = at::empty_like(q);
  const auto views = ViewsOf<kernels::Rope1dOperands>(
      {.q = q, .q_out = out, .offset = -3, .rotary_dim = 2, .interleaved = false, .theta = 100});
  EXPECT_EQ(views.offset, -3);
  EXPECT_EQ(views.rotary_dim, 2);
  EXPECT_FALSE(views.interleaved);
  EXPECT_EQ(views.theta, 100);
  EXPECT_FALSE(views.norm_eps.has_value());
}

}  // namespace
}  // namespace reel::model
