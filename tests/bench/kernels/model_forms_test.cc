// SPDX-License-Identifier: Apache-2.0
// kernel_bench measures what models run: compares LTX-Video's recorded calls with its cases.
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/dispatch/call_recorder.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"
#include "tests/bench/kernels/bench_case.h"
#include "tests/unit/model/ltx/pipeline_run.h"

namespace reel::model::ltx {
namespace {

using kernels::CallRecorder;

// The operator and the tensors that are there, whatever their sizes: what decides which kernel a
// call falls to, beside its layout.
std::set<std::string> FormsOf(const CallRecorder& recorder) {
  std::set<std::string> forms;
  for (const kernels::RecordedCall& call : recorder.calls()) {
    std::multiset<std::string> names;
    for (const std::string& tensor : call.tensors) {
      const std::string typed = tensor.substr(0, tensor.find(" ["));  // "name dtype"
      names.insert(typed.substr(0, typed.rfind(' ')));
    }
    forms.insert(absl::StrCat(call.op, ": ", absl::StrJoin(names, ", ")));
  }
  return forms;
}

// Every operator by a kernel of its own, so that each call comes by the recorder.
kernels::KernelPlan KernelsAlone() {
  const kernels::KernelCatalog& catalog = DeviceUnderTest()->catalog;
  std::map<std::string, std::string> variants;
  for (const auto& op : catalog.List()) {
    for (const auto& variant : op.variants) {
      if (variant.runs && variant.origin == "built-in") variants.try_emplace(op.op, variant.name);
    }
  }
  return *catalog.Plan("auto", variants);
}

void Generate(const std::string& version, CallRecorder& recorder) {
  const TinyFolder folder(version);
  const auto pipeline = Load(folder);
  ASSERT_NE(pipeline, nullptr);
  GenerationSpec spec;
  spec.prompt = "a red fox";
  spec.negative_prompt = "blurry";
  spec.width = 64;
  spec.height = 64;
  spec.num_frames = 9;
  spec.frame_rate = 25;
  spec.num_inference_steps = 2;
  spec.guidance_scale = 3;
  spec.max_text_tokens = 24;
  spec.decode_timestep = 0.05;
  const kernels::KernelPlan plan = KernelsAlone();
  kernels::KernelCounters counters;
  const kernels::Execution run{.plan = plan,
                               .counters = counters,
                               .timer = nullptr,
                               .stream = DeviceUnderTest()->stream,
                               .recorder = &recorder};
  const auto generation = Begin(*pipeline, spec, run);
  ASSERT_NE(generation, nullptr);
  StepAll(*pipeline, {generation.get()}, run);
  StepAll(*pipeline, {generation.get()}, run);
  DecodeAll(*pipeline, *generation, run, FrameFormat::kI420);
}

std::set<std::string> MeasuredForms() {
  CallRecorder recorder;
  const auto device = kernels::MakeCpuBench();
  for (const kernels::BenchCase& bench :
       kernels::BenchCases(kernels::Dtype::kF32, kernels::BenchPreset::kShort, {8, 64})) {
    kernels::BenchTensors tensors(*device);
    const kernels::BenchOp op = bench.make(tensors, bench.units);
    EXPECT_TRUE(tensors.status().ok()) << tensors.status();
    const kernels::KernelPlan plan = *device->catalog().Plan("auto", {{bench.op, "loops"}});
    kernels::KernelCounters counters;
    const absl::Status status = op({.plan = plan,
                                    .counters = counters,
                                    .timer = nullptr,
                                    .stream = {},
                                    .recorder = &recorder});
    EXPECT_TRUE(status.ok()) << bench.op << " " << bench.shape << ": " << status;
  }
  return FormsOf(recorder);
}

TEST(ModelForms, EveryFormThatLtxVideoRunsIsMeasured) {
  CallRecorder recorder;
  for (const char* version : {"0.9.0", "0.9.5"}) {
    ASSERT_NO_FATAL_FAILURE(Generate(version, recorder));
  }
  const std::set<std::string> run = FormsOf(recorder), measured = MeasuredForms();
  // What every block has: the attention over the prompt has no gate.
  EXPECT_THAT(run, ::testing::Contains("gate_residual_adaln: out, scale, shift, sum, x, y"));
  EXPECT_THAT(run, ::testing::Contains("linear: bias, out, weight, x"));
  EXPECT_THAT(run, ::testing::Contains("conv3d: bias, out, weight, x"));
  EXPECT_THAT(measured, ::testing::IsSupersetOf(run));
}

}  // namespace
}  // namespace reel::model::ltx
