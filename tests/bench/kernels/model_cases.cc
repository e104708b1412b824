// SPDX-License-Identifier: Apache-2.0
// Rotary embeddings, activations, and what the decoder ends with.
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/activation/activation.h"
#include "kernels/channel_norm_silu/channel_norm_silu.h"
#include "kernels/depth_to_space/depth_to_space.h"
#include "kernels/frame_convert/frame_convert.h"
#include "kernels/int8_rows/int8_rows.h"
#include "kernels/ltx_rope/ltx_rope.h"
#include "kernels/ltx_rope/ltx_rope_table.h"
#include "kernels/quantize_rows/quantize_rows.h"
#include "kernels/rope/rope.h"
#include "tests/bench/kernels/bench_case.h"

namespace reel::kernels {
namespace {

constexpr int64_t kPeriod = 4;
constexpr int64_t kHeadWidth = 64;
constexpr int64_t kSplitHead = 128;  // LTX-2's video

// The table of a grid of one row of tokens a frame, or of 7x16x24 for the model's 2,688 tokens.
LtxRopeTableView FactoredTable(BenchTensors& tensors, int64_t tokens, int64_t width,
                               int64_t split_head) {
  const bool model = tokens == 7 * 16 * 24;
  const auto made =
      model ? MakeLtxRopeTable(7, 16, 24, 25, width) : MakeLtxRopeTable(tokens, 1, 1, 25, width);
  if (!made.ok()) return {};
  LtxRopeTableView view;
  view.cos_sin =
      tensors.Table(Dtype::kF32, {made->rows, made->frequencies, 2}, made->cos_sin.data());
  view.index = tensors.Table(Dtype::kI32, {1, tokens, 3}, made->index.data());
  view.split_head = split_head;
  return view;
}

struct RopeForm {
  const char* op;
  bool dense = false;
  int64_t split_head = 0;
};

// The table makes every token another one: no period, the reference computes all of them.
BenchCase RopeCase(RopeForm form, BenchSize size, Dtype dtype) {
  const bool norm = std::string(form.op) == "qk_norm_rope";
  const auto make = [=](BenchTensors& t, int64_t rows) -> BenchOp {
    const int64_t batch = rows % 2 == 0 ? 2 : 1;
    const int64_t tokens = rows / batch;
    const std::vector<int64_t> sizes = {batch, tokens, size.width};
    QkNormRopeArgs args;
    args.q = t.Input(dtype, sizes, kPeriod * size.width);
    args.q_out = t.Output(dtype, sizes);
    args.k = t.Input(dtype, sizes, kPeriod * size.width);
    args.k_out = t.Output(dtype, sizes);
    LtxRopeTableView table;
    if (form.dense) {
      const std::vector<int64_t> all = {1, tokens, size.width};
      table.cos = t.Input(Dtype::kF32, all, kPeriod * size.width);
      table.sin = t.Input(Dtype::kF32, all, kPeriod * size.width);
    } else {
      table = FactoredTable(t, tokens, size.width, form.split_head);
    }
    if (!norm) {
      const LtxRopeArgs plain{args.q, args.q_out, args.k, args.k_out, table};
      return [plain](const Execution& run) { return LtxRope(plain, run); };
    }
    args.q_weight = t.Input(dtype, {size.width}, size.width);
    args.k_weight = t.Input(dtype, {size.width}, size.width);
    args.table = table;
    return [args](const Execution& run) { return QkNormRope(args, run); };
  };
  return {
      .op = form.op,
      .shape = absl::StrCat("q, k ", size.rows, "x", size.width, form.dense ? " dense table" : "",
                            form.split_head > 0 ? " split heads" : ""),
      .dtype = dtype,
      .units = size.rows,
      .period = size.rows,
      .make = make};
}

BenchCase RotaryCase(bool grid, BenchSize size, Dtype dtype) {
  const auto make = [=](BenchTensors& t, int64_t rows) -> BenchOp {
    const std::vector<int64_t> sizes = {1, rows, size.width / kHeadWidth, kHeadWidth};
    const TensorView q = t.Input(dtype, sizes, kPeriod * size.width);
    const TensorView q_out = t.Output(dtype, sizes);
    const TensorView k = t.Input(dtype, sizes, kPeriod * size.width);
    const TensorView k_out = t.Output(dtype, sizes);
    if (!grid) {
      Rope1dArgs args;
      args.q = q;
      args.q_out = q_out;
      args.k = k;
      args.k_out = k_out;
      return [args](const Execution& run) { return Rope1d(args, run); };
    }
    Rope3dArgs args;
    args.q = q;
    args.q_out = q_out;
    args.k = k;
    args.k_out = k_out;
    args.frames = rows;
    args.height = args.width = 1;
    return [args](const Execution& run) { return Rope3d(args, run); };
  };
  return {.op = grid ? "rope_3d" : "rope_1d",
          .shape = absl::StrCat("q, k ", size.rows, "x", size.width / kHeadWidth, "x", kHeadWidth),
          .dtype = dtype,
          .units = size.rows,
          .period = size.rows,
          .make = make};
}

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

void AddRopeCases(BenchSize size, Dtype dtype, std::vector<BenchCase>& cases) {
  cases.push_back(RopeCase({"qk_norm_rope"}, size, dtype));
  cases.push_back(RopeCase({"qk_norm_rope", true}, size, dtype));
  if (size.width % kSplitHead == 0) {
    cases.push_back(RopeCase({.op = "qk_norm_rope", .split_head = kSplitHead}, size, dtype));
  }
  cases.push_back(RopeCase({"ltx_rope"}, size, dtype));
  cases.push_back(RotaryCase(false, size, dtype));
  cases.push_back(RotaryCase(true, size, dtype));
}

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

// As decoders have it: alone, behind a convolution (with its bias), where a block ends (with the
// block's input, and the sum written), each with the modulation of one that is conditioned on a
// time.
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
  if (only.rows > 0) norms = {only};
  std::vector<BenchCase> cases;
  for (const BenchSize& size : norms) {
    AddNormCases(size, dtype, cases);
    AddModulationCases(size, dtype, cases);
  }
  const BenchSize tokens = only.rows > 0 ? only : BenchSize{5376, 2048};
  for (const Dtype codes : {Dtype::kE4m3, Dtype::kI8}) AddCodedCases(tokens, dtype, codes, cases);
  AddRopeCases(tokens, dtype, cases);
  AddActivationCases(only.rows > 0 ? only : BenchSize{5376, 8192}, dtype, cases);
  AddGatedCases(only.rows > 0 ? only : BenchSize{5376, 8192}, dtype, cases);
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
    // The models' own, 2x2688x32x64, would take generic a tenth of a second.
    AddAttentionCase({"attention", 1024, 512, 32, 64}, dtype, cases);
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
