// SPDX-License-Identifier: Apache-2.0
// Activations, and what the decoder ends with.
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/activation/activation.h"
#include "kernels/channel_norm_silu/channel_norm_silu.h"
#include "kernels/depth_to_space/depth_to_space.h"
#include "kernels/frame_convert/frame_convert.h"
#include "kernels/head_gate/head_gate.h"
#include "kernels/int8_rows/int8_rows.h"
#include "kernels/quantize_rows/quantize_rows.h"
#include "tests/bench/kernels/bench_case.h"

namespace reel::kernels {
namespace {

constexpr int64_t kPeriod = 4;
constexpr int64_t kSplitHead = 128;  // LTX-2's video

BenchCase FrameCase(FrameLayout layout, FrameFormat format, BenchVideo size, Dtype dtype) {
  const auto make = [=](BenchTensors& t, int64_t frames) -> BenchOp {
    const int64_t pixels = size.height * size.width;
    FrameConvertArgs args;
    args.layout = layout;
    args.format = format;
    const std::vector<int64_t> patched = {frames, size.height / 4, size.width / 4, 48};
    const std::vector<int64_t> packed = {frames, size.height, size.width, 3};
    const std::vector<int64_t> planar = {frames, 3, size.height, size.width};
    const auto& sizes = layout == FrameLayout::kPatched  ? patched
                        : layout == FrameLayout::kPlanar ? planar
                                                         : packed;
    args.frames = t.Input(dtype, sizes, 3 * pixels);
    if (format == FrameFormat::kRgb8) {
      args.rgb = t.Output(Dtype::kU8, packed);
    } else {
      args.y = t.Output(Dtype::kU8, {frames, size.height, size.width});
      args.u = t.Output(Dtype::kU8, {frames, size.height / 2, size.width / 2});
      args.v = t.Output(Dtype::kU8, {frames, size.height / 2, size.width / 2});
    }
    return [args](const Execution& run) { return FrameConvert(args, run); };
  };
  return {.op = "frame_convert",
          .shape = absl::StrCat(size.frames, "x", size.height, "x", size.width, "x3",
                                layout == FrameLayout::kPatched  ? " patched"
                                : layout == FrameLayout::kPlanar ? " planar"
                                                                 : " packed",
                                format == FrameFormat::kRgb8 ? " to RGB8" : " to I420"),
          .dtype = dtype,
          .units = size.frames,
          .period = 1,
          .make = make};
}

}  // namespace

void AddActivationCases(BenchSize size, Dtype dtype, std::vector<BenchCase>& cases) {
  const auto make = [=](BenchTensors& t, int64_t rows) -> BenchOp {
    ActivationArgs args;
    args.x = t.Input(dtype, {rows, size.width}, kPeriod * size.width);
    args.out = t.Output(dtype, {rows, size.width});
    return [args](const Execution& run) { return ActivationOp(args, run); };
  };
  const std::string shape = absl::StrCat(size.rows, "x", size.width, " gelu_tanh");
  cases.push_back({"activation", shape, dtype, size.rows, kPeriod, make});
  for (const bool fixed : {false, true}) {
    const auto to_e4m3 = [=](BenchTensors& t, int64_t rows) -> BenchOp {
      ActivationArgs args;
      args.x = t.Input(dtype, {rows, size.width}, kPeriod * size.width);
      args.out = t.Output(Dtype::kE4m3, {rows, size.width});
      if (fixed) {
        args.static_out_scale = 0.01;
      } else {
        args.out_scale = t.Output(Dtype::kF32, {rows});
      }
      return [args](const Execution& run) { return ActivationOp(args, run); };
    };
    cases.push_back({.op = "activation",
                     .shape = shape + (fixed ? " to e4m3, one scale" : " to e4m3"),
                     .dtype = dtype,
                     .units = size.rows,
                     .period = kPeriod,
                     .make = to_e4m3});
  }
}

void AddHeadGateCase(BenchSize size, Dtype dtype, std::vector<BenchCase>& cases) {
  if (size.width % kSplitHead != 0) return;
  const auto make = [=](BenchTensors& t, int64_t rows) -> BenchOp {
    const int64_t heads = size.width / kSplitHead;
    HeadGateArgs args;
    args.x = t.Input(dtype, {rows, size.width}, kPeriod * size.width);
    args.logits = t.Input(dtype, {rows, heads}, kPeriod * heads);
    args.out = t.Output(dtype, {rows, size.width});
    return [args](const Execution& run) { return HeadGate(args, run); };
  };
  cases.push_back(
      {"head_gate", absl::StrCat(size.rows, "x", size.width), dtype, size.rows, kPeriod, make});
}

void AddGatedCases(BenchSize size, Dtype dtype, std::vector<BenchCase>& cases) {
  for (const Activation kind : {Activation::kSilu, Activation::kGeluTanh}) {
    const auto make = [=](BenchTensors& t, int64_t rows) -> BenchOp {
      GatedActivationArgs args;
      args.x = t.Input(dtype, {rows, 2 * size.width}, 2 * kPeriod * size.width);
      args.out = t.Output(dtype, {rows, size.width});
      args.kind = kind;
      return [args](const Execution& run) { return GatedActivation(args, run); };
    };
    cases.push_back({"gated_activation",
                     absl::StrCat(size.rows, "x2x", size.width,
                                  kind == Activation::kSilu ? " silu" : " gelu_tanh"),
                     dtype, size.rows, kPeriod, make});
  }
  // As T5 calls it: gate and value are products of their own.
  const auto apart = [=](BenchTensors& t, int64_t rows) -> BenchOp {
    GatedActivationArgs args;
    args.x = t.Input(dtype, {rows, size.width}, kPeriod * size.width);
    args.value = t.Input(dtype, {rows, size.width}, kPeriod * size.width);
    args.out = t.Output(dtype, {rows, size.width});
    args.kind = Activation::kGeluTanh;
    return [args](const Execution& run) { return GatedActivation(args, run); };
  };
  cases.push_back({"gated_activation",
                   absl::StrCat(size.rows, "x", size.width, " gelu_tanh, two operands"), dtype,
                   size.rows, kPeriod, apart});
}

void AddQuantizeCase(BenchSize size, Dtype dtype, std::vector<BenchCase>& cases) {
  const auto make = [=](BenchTensors& t, int64_t rows) -> BenchOp {
    QuantizeRowsArgs args;
    args.x = t.Input(dtype, {rows, size.width}, kPeriod * size.width);
    args.out = t.Output(Dtype::kE4m3, {rows, size.width});
    args.scale = t.Output(Dtype::kF32, {rows});
    return [args](const Execution& run) { return QuantizeRows(args, run); };
  };
  cases.push_back(
      {"quantize_rows", absl::StrCat(size.rows, "x", size.width), dtype, size.rows, kPeriod, make});
  for (const bool gelu : {false, true}) {
    const auto make_int8 = [=](BenchTensors& t, int64_t rows) -> BenchOp {
      Int8RowsArgs args{.x = t.Input(dtype, {rows, size.width}, kPeriod * size.width),
                        .out = t.Output(Dtype::kI8, {rows, size.width}),
                        .scale = t.Output(Dtype::kF32, {rows}),
                        .gelu = gelu};
      return [args](const Execution& run) { return Int8Rows(args, run); };
    };
    cases.push_back({"int8_rows", absl::StrCat(size.rows, "x", size.width, gelu ? " gelu" : ""),
                     dtype, size.rows, kPeriod, make_int8});
  }
}

// The calls of decoders: alone, behind a convolution (with its bias), at the end of a block (with
// the block's input, and the sum written). Each also with the modulation of a decoder that depends
// on a time.
void AddChannelNormCases(BenchVideo size, Dtype dtype, std::vector<BenchCase>& cases) {
  struct Form {
    const char* name;
    bool biased = false, added = false, summed = false, modulated = false;
  };
  for (const Form& form : {Form{.name = ""}, Form{.name = " + bias", .biased = true},
                           Form{.name = " + residual", .added = true},
                           Form{.name = " + residual, and the sum", .added = true, .summed = true},
                           Form{.name = " + bias + residual, and the sum",
                                .biased = true,
                                .added = true,
                                .summed = true},
                           Form{.name = " modulated", .modulated = true},
                           Form{.name = " + bias modulated", .biased = true, .modulated = true},
                           Form{.name = " + residual, modulated", .added = true, .modulated = true},
                           Form{.name = " + residual, and the sum, modulated",
                                .added = true,
                                .summed = true,
                                .modulated = true},
                           Form{.name = " + bias + residual, and the sum, modulated",
                                .biased = true,
                                .added = true,
                                .summed = true,
                                .modulated = true}}) {
    const auto make = [=](BenchTensors& t, int64_t frames) -> BenchOp {
      const std::vector<int64_t> sizes = {1, frames, size.height, size.width, size.channels};
      const int64_t elements = size.height * size.width * size.channels;
      ChannelNormSiluArgs args;
      args.x = t.Input(dtype, sizes, elements);
      if (form.biased) args.bias = t.Input(dtype, {size.channels}, size.channels);
      if (form.added) args.residual = t.Input(dtype, sizes, elements);
      if (form.summed) args.sum = t.Output(dtype, sizes);
      args.out = t.Output(dtype, {1, frames + 2, size.height, size.width, size.channels});
      args.pad_front = args.pad_back = 1;
      if (form.modulated) {
        args.scale = t.Input(dtype, {1, size.channels}, size.channels);
        args.shift = t.Input(dtype, {1, size.channels}, size.channels);
      }
      return [args](const Execution& run) { return ChannelNormSilu(args, run); };
    };
    cases.push_back({"channel_norm_silu",
                     absl::StrCat(size.frames, "x", size.height, "x", size.width, "x",
                                  size.channels, form.name, " pad 1+1"),
                     dtype, size.frames, 1, make});
  }
}

// Alone, with the block's input, and with the convolution's bias as well.
void AddDepthToSpaceCases(BenchVideo size, Dtype dtype, std::vector<BenchCase>& cases) {
  struct Form {
    const char* name;
    bool residual = false, biased = false;
  };
  for (const Form& form : {Form{.name = ""}, Form{.name = " + residual", .residual = true},
                           Form{.name = " + bias + residual", .residual = true, .biased = true}}) {
    const auto make = [=](BenchTensors& t, int64_t frames) -> BenchOp {
      const int64_t pixels = size.height * size.width;
      DepthToSpaceArgs args;
      args.x = t.Input(dtype, {1, frames, size.height, size.width, 8 * size.channels},
                       8 * pixels * size.channels);
      if (form.biased) args.bias = t.Input(dtype, {8 * size.channels}, 8 * size.channels);
      if (form.residual) {
        args.residual = t.Input(dtype, {1, frames, size.height, size.width, 2 * size.channels},
                                2 * pixels * size.channels);
      }
      args.out = t.Output(dtype, {1, 2 * frames, 2 * size.height, 2 * size.width, size.channels});
      return [args](const Execution& run) { return DepthToSpace(args, run); };
    };
    cases.push_back({"depth_to_space",
                     absl::StrCat(size.frames, "x", size.height, "x", size.width, "x8x",
                                  size.channels, form.name),
                     dtype, size.frames, 1, make});
  }
}

void AddFrameCases(BenchVideo size, Dtype dtype, std::vector<BenchCase>& cases) {
  for (const FrameLayout layout :
       {FrameLayout::kPacked, FrameLayout::kPlanar, FrameLayout::kPatched}) {
    for (const FrameFormat format : {FrameFormat::kRgb8, FrameFormat::kI420}) {
      cases.push_back(FrameCase(layout, format, size, dtype));
    }
  }
}

std::vector<BenchCase> BenchCases(Dtype dtype, BenchPreset preset, BenchSize only) {
  using Mask = BenchAttention::Mask;
  const bool spec = preset == BenchPreset::kSpec && only.rows == 0;
  std::vector<BenchSize> norms = {{1024, 2048}, {2640, 2048}, {5376, 2048}};
  if (spec) {
    norms.insert(norms.end(), {{4096, 2048},
                               {12288, 2048},
                               {26752, 2048},
                               {53760, 2048},
                               {8192, 3072},
                               {16384, 3072},
                               {5376, 4096},
                               {26752, 4096}});
  }
  std::vector<BenchCase> cases;
  for (const BenchSize& size : only.rows > 0 ? std::vector{only} : norms) {
    AddNormCases(size, dtype, cases);
    AddModulationCases(size, dtype, cases);
  }
  const BenchSize tokens = only.rows > 0 ? only : BenchSize{5376, 2048};
  for (const Dtype codes : {Dtype::kE4m3, Dtype::kI8}) AddCodedCases(tokens, dtype, codes, cases);
  AddRopeCases(tokens, dtype, cases);
  AddHeadGateCase(tokens, dtype, cases);
  const BenchSize wide = only.rows > 0 ? only : BenchSize{5376, 8192};
  AddActivationCases(wide, dtype, cases);
  AddGatedCases(wide, dtype, cases);
  AddQuantizeCase(tokens, dtype, cases);
  AddAttentionCase({"cross_attention", 64, 128, 4, 64, Mask::kLengths}, dtype, cases);
  AddAttentionRestCase({"attention_rest", 64, 64, 4, 64}, dtype, cases);
  for (const Mask mask : {Mask::kNone, Mask::kKeyBias, Mask::kLengths}) {
    AddAttentionCase({"attention", 64, 64, 4, 64, mask}, dtype, cases);
  }
  if (spec) {
    AddAttentionCase({"cross_attention", 5376, 128, 32, 64, Mask::kLengths}, dtype, cases);
    AddAttentionCase({"cross_attention", 5376, 128, 32, 64, Mask::kKeyBias}, dtype, cases);
    AddAttentionCase({"cross_attention", 5376, 128, 32, 128, Mask::kLengths}, dtype, cases);
    AddAttentionRestCase({"attention_rest", 26752, 64, 32, 64}, dtype, cases);
    AddLongAttentionCases(dtype, cases);
    AddNormLinearCases({2640, 2048}, 2048, dtype, cases);
    AddNormLinearCases({5376, 2048}, 6144, dtype, cases);
    AddQuantizeCase({5376, 8192}, dtype, cases);
    AddInt8LinearCases(dtype, cases);
    AddGatedCases({256, 10240}, dtype, cases);
    AddChannelNormCases({25, 64, 96, 256}, dtype, cases);
    AddChannelNormCases({49, 128, 192, 128}, dtype, cases);
    AddDepthToSpaceCases({25, 64, 96, 128}, dtype, cases);
    AddFrameCases({49, 512, 768, 3}, dtype, cases);
    AddFrameCases({121, 704, 1216, 3}, dtype, cases);
  } else {
    AddNormLinearCases(only.rows > 0 ? only : BenchSize{64, 2048}, 48, dtype, cases);
    AddLinearCases(only.rows > 0 ? only : BenchSize{64, 2048}, 48, dtype, cases);
    AddInt8LinearCase(only.rows > 0 ? only : BenchSize{64, 2048}, 48, dtype, cases);
    AddConv3dCase({2, 8, 8, 32}, 16, dtype, cases);
    AddChannelNormCases({2, 8, 8, 128}, dtype, cases);
    AddDepthToSpaceCases({2, 8, 8, 128}, dtype, cases);
    AddFrameCases({2, 32, 64, 3}, dtype, cases);
  }
  return cases;
}

}  // namespace reel::kernels
