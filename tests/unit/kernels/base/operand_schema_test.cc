// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/operand_schema.h"

#include <gtest/gtest.h>

#include "kernels/activation/activation.h"
#include "kernels/channel_norm_silu/channel_norm_silu.h"
#include "kernels/head_gate/head_gate.h"
#include "kernels/quantize_rows/quantize_rows.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/rope/rope.h"

namespace reel::kernels {
namespace {

using enum OperandForm;

// Programs in Python call by these; they change only by additions at the end.

TEST(OperandSchema, HasTheStarBehindTensorsWhereNoOptionsFollow) {
  const OperandSchema schema = SchemaOf<HeadGateOperands>(kPlain);
  EXPECT_EQ(schema.outputs, "Tensor(a!) out");
  EXPECT_EQ(schema.returns, "Tensor");
  EXPECT_EQ(schema.arguments, "Tensor x, Tensor logits, *");
}

TEST(OperandSchema, SaysWhatOptionsAreUnlessACallSaysIt) {
  EXPECT_EQ(SchemaOf<RmsNormOperands>(kPlain).arguments,
            "Tensor x, Tensor? weight=None, Tensor? bias=None, *, float eps=1e-06, "
            "float weight_offset=0.0, bool round_before_weight=False");
  EXPECT_EQ(SchemaOf<GatedActivationOperands>(kPlain).arguments,
            "Tensor x, Tensor? value=None, *, str kind=\"gelu_tanh\", bool gate_first=True, "
            "float threshold=0.0");
}

TEST(OperandSchema, KeepsTensorsBehindOptionsWhereTheyAreListed) {
  const OperandSchema schema = SchemaOf<Rope1dOperands>(kPlain);
  EXPECT_EQ(schema.outputs, "Tensor(a!) q_out, Tensor(b!)? k_out");
  EXPECT_EQ(schema.returns, "(Tensor, Tensor)");
  EXPECT_EQ(schema.arguments,
            "Tensor q, Tensor? k=None, Tensor? positions=None, Tensor? k_positions=None, *, "
            "int offset=0, int? rotary_dim=None, bool interleaved=True, float theta=10000.0, "
            "float? norm_eps=None, Tensor? q_weight=None, Tensor? k_weight=None");
}

TEST(OperandSchema, HasWhatAFormWritesInThatFormAlone) {
  EXPECT_EQ(SchemaOf<ActivationOperands>(kPlain).outputs, "Tensor(a!) out");
  EXPECT_EQ(SchemaOf<ActivationOperands>(kPlain).arguments,
            "Tensor x, Tensor? bias=None, *, str kind=\"gelu_tanh\"");
  EXPECT_EQ(SchemaOf<ActivationOperands>(kE4m3).outputs, "Tensor(a!) out, Tensor(b!)? out_scale");
  EXPECT_EQ(SchemaOf<ActivationOperands>(kE4m3).arguments,
            "Tensor x, Tensor? bias=None, *, str kind=\"gelu_tanh\", "
            "float? static_out_scale=None");
}

TEST(OperandSchema, AlwaysWritesTheSumThatAFormIsFor) {
  EXPECT_EQ(SchemaOf<ChannelNormSiluOperands>(kPlain).outputs, "Tensor(a!) out");
  EXPECT_EQ(SchemaOf<ChannelNormSiluOperands>(kSum).outputs, "Tensor(a!) out, Tensor(b!) sum");
}

TEST(OperandSchema, TakesSizesOfOutputsAsSymbolsToo) {
  EXPECT_EQ(SchemaOf<ChannelNormSiluOperands>(kPlain).arguments,
            "Tensor x, Tensor? scale=None, Tensor? shift=None, Tensor? residual=None, "
            "Tensor? bias=None, *, SymInt pad_front=0, SymInt pad_back=0, bool silu=True, "
            "float eps=1e-08");
}

TEST(OperandSchema, LeavesOutAnOptionalOutputThatIsNotAskedFor) {
  const OperandSchema schema = SchemaOf<QuantizeRowsOperands>(kPlain);
  EXPECT_EQ(schema.outputs, "Tensor(a!) out, Tensor(b!)? scale");
  EXPECT_EQ(schema.arguments, "Tensor x, Tensor? static_scale=None, *");
}

}  // namespace
}  // namespace reel::kernels
