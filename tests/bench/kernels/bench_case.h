// SPDX-License-Identifier: Apache-2.0
// The calls that kernel_bench times: operators at the shapes that matter to a model.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/bench/kernels/bench_tensors.h"

namespace reel::kernels {

using BenchOp = std::function<absl::Status(const Execution&)>;

struct BenchCase {
  std::string op;
  std::string shape;  // what is measured, for people
  Dtype dtype = Dtype::kBf16;
  int64_t units = 0;   // rows, tokens or frames
  int64_t period = 0;  // units after which the data repeat
  // Makes the tensors of a call over so many units, and the call.
  std::function<BenchOp(BenchTensors&, int64_t units)> make;
  // Additions and multiplications of the whole call, where they bound it; 0: memory does.
  double operations = 0;
  // What a result may be off beside its own rounding, as a share of the largest: by default what
  // fp32 arithmetic loses on terms as large as that.
  double tolerance = 0x1p-24 * 32;
  std::string variant = {};  // the only one that is measured; empty: all that run
};

struct BenchSize {
  int64_t rows;
  int64_t width;
};
enum class BenchPreset {
  kShort,  // three sizes of the row operators, and small frames: minutes on one CPU core
  kSpec,   // every size that has a bar
};

// All cases of one type; `only` alone for row operators where its rows are not 0.
std::vector<BenchCase> BenchCases(Dtype dtype, BenchPreset preset, BenchSize only);

// The parts that BenchCases puts together.
void AddNormCases(BenchSize size, Dtype dtype, std::vector<BenchCase>& cases);
void AddModulationCases(BenchSize size, Dtype dtype, std::vector<BenchCase>& cases);
// Norms that write e4m3 or int8 with a scale for each row.
void AddCodedCases(BenchSize size, Dtype dtype, Dtype codes, std::vector<BenchCase>& cases);
void AddRopeCases(BenchSize size, Dtype dtype, std::vector<BenchCase>& cases);
void AddActivationCases(BenchSize size, Dtype dtype, std::vector<BenchCase>& cases);
void AddQuantizeCase(BenchSize size, Dtype dtype, std::vector<BenchCase>& cases);
void AddNormLinearCases(BenchSize size, int64_t outputs, Dtype dtype,
                        std::vector<BenchCase>& cases);
void AddLinearCases(BenchSize size, int64_t outputs, Dtype dtype, std::vector<BenchCase>& cases);
void AddInt8LinearCase(BenchSize size, int64_t outputs, Dtype dtype, std::vector<BenchCase>& cases);
// Those of a block of the 2B model; none of fp32, which no variant gives.
void AddInt8LinearCases(Dtype dtype, std::vector<BenchCase>& cases);
void AddGatedCases(BenchSize size, Dtype dtype, std::vector<BenchCase>& cases);

// Of "attention", "cross_attention" or "attention_rest".
struct BenchAttention {
  // Of keys: a bias for each, as T5 and prompts with gaps have it; how many of them count, as other
  // prompts have it: here all.
  enum class Mask { kNone, kKeyBias, kLengths };
  const char* op;
  int64_t rows, keys, heads, head_width;
  Mask mask = Mask::kNone;
};
void AddAttentionCase(BenchAttention size, Dtype dtype, std::vector<BenchCase>& cases);
// In 8 bits, by sm90_int8, sm90_e4m3 and sm90_routed alone: others would take minutes.
void AddAttentionIn8BitsCase(BenchAttention size, Dtype dtype, std::vector<BenchCase>& cases);
// Of many keys; in 8 bits at the sizes of LTX-Video and LTX-2.
void AddLongAttentionCases(Dtype dtype, std::vector<BenchCase>& cases);
void AddAttentionRestCase(BenchAttention size, Dtype dtype, std::vector<BenchCase>& cases);

struct BenchVideo {
  int64_t frames, height, width, channels;
};
void AddChannelNormCases(BenchVideo size, Dtype dtype, std::vector<BenchCase>& cases);
void AddDepthToSpaceCases(BenchVideo size, Dtype dtype, std::vector<BenchCase>& cases);
void AddFrameCases(BenchVideo size, Dtype dtype, std::vector<BenchCase>& cases);
void AddConv3dCase(BenchVideo size, int64_t outputs, Dtype dtype, std::vector<BenchCase>& cases);

}  // namespace reel::kernels
