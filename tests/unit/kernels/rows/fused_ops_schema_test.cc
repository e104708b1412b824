// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/fused_ops_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reel::kernels {
namespace {

// Programs in Python call by these; they change only by additions at the end.

TEST(FusedSchema, MentionsOptionalOperandsBehindTheLastRequiredOneOnly) {
  const OperandSchema schema = SchemaOf(kGateResidualAdaln, 0);
  EXPECT_EQ(schema.outputs, "Tensor(a!) out, Tensor(b!) sum");
  EXPECT_EQ(schema.returns, "(Tensor, Tensor)");
  EXPECT_EQ(schema.arguments,
            "Tensor x, Tensor y, Tensor? gate, Tensor scale, Tensor shift, "
            "Tensor? gate_bias=None, Tensor? scale_bias=None, Tensor? shift_bias=None, *, "
            "float eps=1e-06");
}

TEST(FusedSchema, HasTheScalesOfAnE4m3NormBehindTheOtherOutputs) {
  const OperandSchema schema = SchemaOf(kGateResidualAdaln, kE4m3);
  EXPECT_EQ(schema.outputs, "Tensor(a!) out, Tensor(b!) sum, Tensor(c!)? out_scale");
  EXPECT_EQ(schema.returns, "(Tensor, Tensor, Tensor)");
  EXPECT_THAT(schema.arguments, testing::EndsWith("float eps=1e-06, float? static_out_scale=None"));
  EXPECT_EQ(SchemaOf(kAdalnRmsNorm, kE4m3).outputs, "Tensor(a!) out, Tensor(b!)? out_scale");
}

TEST(FusedSchema, AlwaysWritesTheScalesOfAnInt8Norm) {
  const OperandSchema schema = SchemaOf(kGateResidualAdaln, kInt8);
  EXPECT_EQ(schema.outputs, "Tensor(a!) out, Tensor(b!) sum, Tensor(c!) out_scale");
  EXPECT_THAT(schema.arguments, testing::EndsWith("float eps=1e-06"));
}

TEST(FusedSchema, HasNoEpsilonWithoutANorm) {
  const OperandSchema schema = SchemaOf(kGateResidual, 0);
  EXPECT_EQ(schema.outputs, "Tensor(a!) out");
  EXPECT_EQ(schema.returns, "Tensor");
  EXPECT_EQ(schema.arguments, "Tensor x, Tensor y, Tensor? gate=None, Tensor? gate_bias=None, *");
}

TEST(FusedSchema, TellsAnOutputsGateFromThatOfAResidual) {
  EXPECT_EQ(SchemaOf(kAdalnZero, 0).arguments,
            "Tensor x, Tensor? weight, Tensor scale, Tensor shift, Tensor gate, "
            "Tensor? scale_bias=None, Tensor? shift_bias=None, Tensor? gate_bias=None, *, "
            "float eps=1e-06");
  EXPECT_EQ(SchemaOf(kLayerNormResidual, 0).arguments,
            "Tensor x, Tensor residual, Tensor? weight=None, Tensor? bias=None, *, "
            "float eps=1e-05");
}

}  // namespace
}  // namespace reel::kernels
