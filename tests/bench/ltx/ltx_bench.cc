// SPDX-License-Identifier: Apache-2.0
// Times one model's pieces as the engine drives them: load, text, every step, decode. One JSON line
// on stdout for each profile.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "kernels/dispatch/kernel_counters.h"
#include "kernels/open_device.h"
#include "model/registry.h"
#include "model/resolve.h"
#include "nlohmann/json.hpp"
#include <CLI/CLI.hpp>

namespace reel {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Frames are made and dropped: what encodes them is not measured here.
class NoSink : public model::FrameSink {
 public:
  model::FrameFormat format() const override { return model::FrameFormat::kI420; }
  bool HasRoom() const override { return true; }
  absl::Status Push(const model::FramesView&) override { return absl::OkStatus(); }
};

struct Times {
  double text_ms = 0, decode_ms = 0;
  std::vector<double> steps_ms;
};

// A step ends with a look at the latents' numbers, which waits for the device.
absl::StatusOr<Times> RunOnce(model::Pipeline& pipeline, const model::GenerationSpec& spec,
                              const kernels::Execution& run) {
  Times times;
  auto generation = pipeline.Create(spec, run);
  if (!generation.ok()) return generation.status();
  auto start = Clock::now();
  for (bool ready = false; !ready;) {
    const auto next = pipeline.BeginNext(**generation, run);
    if (!next.ok()) return next.status();
    ready = *next;
  }
  times.text_ms = MillisecondsSince(start);
  while ((*generation)->step() < (*generation)->num_steps()) {
    start = Clock::now();
    model::Generation* const batch[] = {generation->get()};
    if (const absl::Status status = pipeline.Step(batch, run)[0]; !status.ok()) return status;
    times.steps_ms.push_back(MillisecondsSince(start));
  }
  start = Clock::now();
  NoSink sink;
  for (bool last = false; !last;) {
    const auto next = pipeline.DecodeNext(**generation, sink, run);
    if (!next.ok()) return next.status();
    last = *next;
  }
  times.decode_ms = MillisecondsSince(start);
  return times;
}

nlohmann::json Report(const std::string& profile, const std::vector<Times>& runs,
                      const kernels::KernelCounters& counters) {
  std::vector<double> text, steps, denoise, decode;
  for (const Times& times : runs) {
    text.push_back(times.text_ms);
    decode.push_back(times.decode_ms);
    double sum = 0;
    for (const double step : times.steps_ms) sum += step;
    denoise.push_back(sum);
    steps.insert(steps.end(), times.steps_ms.begin(), times.steps_ms.end());
  }
  nlohmann::json json = {
      {"profile", profile},       {"runs", runs.size()},           {"text_ms", Median(text)},
      {"step_ms", Median(steps)}, {"denoise_ms", Median(denoise)}, {"decode_ms", Median(decode)}};
  for (const auto& use : counters.Uses()) json["calls"][use.op + "=" + use.variant] = use.calls;
  return json;
}

int Fail(const std::string& what) {
  std::fprintf(stderr, "ltx_bench: %s\n", what.c_str());
  return 1;
}

}  // namespace
}  // namespace reel

int main(int argc, char** argv) {
  using namespace reel;
  model::LoadOptions load;
  load.name = "bench";
  model::GenerationSpec asked;
  asked.prompt = "a red fox walks through a snowy forest";
  asked.seed = 0;
  std::string device = "auto", library = kernels::CudaLibraryPath();
  std::vector<std::string> profiles = {"reference", "auto"};
  int repeat = 3, warm_up = 1;
  CLI::App app("Times one model's pieces", "ltx_bench");
  app.add_option("--model", load.path, "Folder of the model")->required();
  app.add_option("--dtype", load.dtype, "fp32, bf16 or fp16");
  app.add_option("--device", device, "cpu, cuda:N or auto");
  app.add_option("--library", library, "libreel_cuda.so");
  app.add_option("--width", asked.width);
  app.add_option("--height", asked.height);
  app.add_option("--num-frames", asked.num_frames);
  app.add_option("--steps", asked.num_inference_steps);
  app.add_option("--guidance-scale", asked.guidance_scale);
  app.add_option("--profiles", profiles, "Interleaved, each run of one after that of the other")
      ->delimiter(',');
  app.add_option("--repeat", repeat);
  app.add_option("--warm-up", warm_up);
  CLI11_PARSE(app, argc, argv);

  auto opened = kernels::OpenDevice(device, library);
  if (!opened.ok()) return Fail(opened.status().ToString());
  model::AddModelRows(opened->catalog);
  const auto start = Clock::now();
  const auto pipeline = model::LoadPipeline(load, opened->stream);
  if (!pipeline.ok()) return Fail(pipeline.status().ToString());
  const double load_ms = MillisecondsSince(start);
  const auto resolved = model::Resolve(asked, (*pipeline)->card(), model::RequestLimits(), 0);
  if (!resolved.ok()) return Fail(resolved.violations[0].description);

  std::vector<std::vector<Times>> runs(profiles.size());
  std::vector<kernels::KernelCounters> counters(profiles.size());
  for (int i = 0; i < warm_up + repeat; ++i) {
    for (size_t p = 0; p < profiles.size(); ++p) {
      const auto plan = opened->catalog.Plan(profiles[p], {});
      if (!plan.ok()) return Fail(plan.status().ToString());
      counters[p] = {};
      const kernels::Execution run{*plan, counters[p], nullptr, opened->stream};
      const auto times = RunOnce(**pipeline, resolved.spec, run);
      if (!times.ok()) return Fail(times.status().ToString());
      if (i >= warm_up) runs[p].push_back(*times);
    }
  }
  for (size_t p = 0; p < profiles.size(); ++p) {
    nlohmann::json json = Report(profiles[p], runs[p], counters[p]);
    json["load_ms"] = load_ms;
    json["width"] = resolved.spec.width;
    json["height"] = resolved.spec.height;
    json["num_frames"] = resolved.spec.num_frames;
    std::cout << json.dump() << std::endl;
  }
  return 0;
}
