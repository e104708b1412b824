// SPDX-License-Identifier: Apache-2.0
// Times one model's pieces as the engine drives them: load, text, every step, decode. One JSON line
// on stdout for each profile, or for each question.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/open_device.h"
#include "model/registry.h"
#include "model/resolve.h"
#include "nlohmann/json.hpp"
#include "tests/bench/ltx/device_memory.h"
#include "tests/bench/ltx/profiler_ranges.h"
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
  double text_ms = 0, first_frames_ms = 0, decode_ms = 0;
  std::vector<double> steps_ms;
  bench::DeviceMemory idle, peak;
  std::vector<float> latents;
};

// Ready to step.
absl::StatusOr<std::unique_ptr<model::Generation>> Begin(model::Pipeline& pipeline,
                                                         const model::GenerationSpec& spec,
                                                         const kernels::Execution& run) {
  REEL_ASSIGN_OR_RETURN(auto generation, pipeline.Create(spec, run));
  for (bool ready = false; !ready;) {
    REEL_ASSIGN_OR_RETURN(ready, pipeline.BeginNext(*generation, run));
  }
  return generation;
}

// Videos that step together. Their sizes take turns: the first has that of specs[0].
struct Videos {
  std::vector<model::GenerationSpec> specs;
  int together = 1;
  bool apart = false;  // those of one size in a call of their own
};

// Those of `batch` that are stepped in each call.
std::vector<std::vector<model::Generation*>> CallsOf(const Videos& videos,
                                                     const std::vector<model::Generation*>& batch) {
  if (!videos.apart) return {batch};
  std::vector<std::vector<model::Generation*>> calls(std::min(videos.specs.size(), batch.size()));
  for (size_t i = 0; i < batch.size(); ++i) calls[i % videos.specs.size()].push_back(batch[i]);
  return calls;
}

// A part of a run as a profiler's range, where operators are ranges.
class PartRange {
 public:
  PartRange(const kernels::Execution& run, const std::string& name) : on_(run.timer != nullptr) {
    if (on_) bench::PushRange(name);
  }
  ~PartRange() {
    if (on_) bench::PopRange();
  }
  PartRange(const PartRange&) = delete;
  PartRange& operator=(const PartRange&) = delete;

 private:
  bool on_;
};

absl::Status StepAll(model::Pipeline& pipeline,
                     const std::vector<std::vector<model::Generation*>>& calls,
                     const kernels::Execution& run) {
  const PartRange range(run, "step " + std::to_string(calls[0][0]->step()));
  for (const auto& call : calls) {
    for (const absl::Status& status : pipeline.Step(call, run)) REEL_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

absl::Status Decode(model::Pipeline& pipeline, model::Generation& generation,
                    const kernels::Execution& run, Times& times) {
  const PartRange range(run, "decode");
  const auto start = Clock::now();
  NoSink sink;
  for (bool last = false; !last;) {
    REEL_ASSIGN_OR_RETURN(last, pipeline.DecodeNext(generation, sink, run));
    if (times.first_frames_ms == 0) times.first_frames_ms = MillisecondsSince(start);
  }
  times.decode_ms = MillisecondsSince(start);
  return absl::OkStatus();
}

// The first of them is decoded. A step returns when the device is done with the one before it, the
// last one with itself.
absl::StatusOr<Times> RunOnce(model::Pipeline& pipeline, const Videos& videos,
                              const kernels::Execution& run) {
  Times times;
  bench::ResetPeaks(run.stream.device);
  times.idle = bench::Peaks(run.stream.device);
  std::vector<std::unique_ptr<model::Generation>> generations;
  std::vector<model::Generation*> batch;
  auto start = Clock::now();
  for (int i = 0; i < videos.together; ++i) {
    const PartRange range(run, "text");
    const auto& spec = videos.specs[static_cast<size_t>(i) % videos.specs.size()];
    REEL_ASSIGN_OR_RETURN(auto generation, Begin(pipeline, spec, run));
    batch.push_back(generation.get());
    generations.push_back(std::move(generation));
  }
  times.text_ms = MillisecondsSince(start) / videos.together;
  const auto calls = CallsOf(videos, batch);
  while (batch[0]->step() < batch[0]->num_steps()) {
    start = Clock::now();
    REEL_RETURN_IF_ERROR(StepAll(pipeline, calls, run));
    times.steps_ms.push_back(MillisecondsSince(start) / videos.together);
  }
  REEL_ASSIGN_OR_RETURN(const model::LatentsView latents, pipeline.Latents(*batch[0]));
  times.latents.assign(latents.data.begin(), latents.data.end());
  REEL_RETURN_IF_ERROR(Decode(pipeline, *batch[0], run, times));
  times.peak = bench::Peaks(run.stream.device);
  return times;
}

nlohmann::json Report(const std::string& profile, const std::vector<Times>& runs,
                      const kernels::KernelCounters& counters) {
  std::vector<double> text, steps, denoise, first_frames, decode;
  for (const Times& times : runs) {
    text.push_back(times.text_ms);
    first_frames.push_back(times.first_frames_ms);
    decode.push_back(times.decode_ms);
    double sum = 0;
    for (const double step : times.steps_ms) sum += step;
    denoise.push_back(sum);
    steps.insert(steps.end(), times.steps_ms.begin(), times.steps_ms.end());
  }
  nlohmann::json json = {{"profile", profile},
                         {"runs", runs.size()},
                         {"text_ms", Median(text)},
                         {"step_ms", Median(steps)},
                         {"denoise_ms", Median(denoise)},
                         {"first_frames_ms", Median(first_frames)},
                         {"decode_ms", Median(decode)},
                         {"idle_bytes", runs.back().idle.used_bytes},
                         {"used_bytes", runs.back().peak.used_bytes},
                         {"held_bytes", runs.back().peak.held_bytes}};
  for (const auto& use : counters.Uses()) json["calls"][use.op + "=" + use.variant] = use.calls;
  return json;
}

// Normalised, [C, F, h, w], as they lie in memory.
bool WriteLatents(const std::string& file, const std::vector<float>& latents) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(latents.data()),
            static_cast<std::streamsize>(latents.size() * sizeof(float)));
  return out.flush().good();
}

int Fail(const std::string& what) {
  std::fprintf(stderr, "ltx_bench: %s\n", what.c_str());
  return 1;
}

struct Options {
  model::LoadOptions load;
  model::GenerationSpec asked;
  std::string device = "auto", library = kernels::CudaLibraryPath(), latents_file;
  std::vector<std::string> profiles = {"reference", "auto"};
  std::vector<std::string> sizes;
  int repeat = 3, warm_up = 1, together = 0;
  bool questions = false, apart = false, ranges = false;
};

void Describe(CLI::App& app, Options& options) {
  app.add_option("--model", options.load.path, "Folder of the model")->required();
  app.add_option("--dtype", options.load.dtype, "fp32, bf16 or fp16");
  app.add_option("--random-weights", options.load.random_weights,
                 "Seed of weights for a folder that has only configurations");
  app.add_option("--device-memory", options.load.device_memory,
                 "Bytes; weights that do not fit stay on the host. 0: all are on the device");
  app.add_flag_callback(
      "--e4m3-alone", [&options] { options.load.weights_form = model::WeightsForm::kE4m3; },
      "Blocks' linear layers are held in 8 bits alone");
  app.add_option("--resident-blocks", options.load.offload.resident_blocks,
                 "Blocks that stay on the device; the others stream");
  app.add_flag_callback(
      "--text-on-host", [&options] { options.load.offload.text = model::Place::kHost; },
      "The text encoder streams");
  app.add_option("--device", options.device, "cpu, cuda:N, auto, or two to four: cuda:0+cuda:1");
  app.add_option("--library", options.library, "libreel_cuda.so");
  app.add_option("--prompt", options.asked.prompt);
  app.add_option("--negative-prompt", options.asked.negative_prompt);
  app.add_option("--width", options.asked.width);
  app.add_option("--height", options.asked.height);
  app.add_option("--num-frames", options.asked.num_frames);
  app.add_option("--steps", options.asked.num_inference_steps);
  app.add_option("--guidance-scale", options.asked.guidance_scale);
  app.add_option(
         "--profiles", options.profiles,
         "Interleaved, each run of one after that of the other; auto+OP=VARIANT forces a variant")
      ->delimiter(',');
  app.add_option("--repeat", options.repeat);
  app.add_option("--warm-up", options.warm_up);
  app.add_option("--together", options.together,
                 "Videos that step in one call; times are for each (one, or one of each size)")
      ->check(CLI::Range(1, 64));
  app.add_option("--sizes", options.sizes,
                 "256x256x25,384x256x25: sizes that take turns among them, for that of the options")
      ->delimiter(',');
  app.add_flag("--apart", options.apart, "Those of one size step in a call of their own");
  app.add_flag(
      "--questions", options.questions,
      "One run for each line of stdin, {\"profile\": \"auto\"}, answered by a line of JSON");
  app.add_flag("--ranges", options.ranges,
               "NVTX ranges around texts, steps, decodes and operators; steps are not recorded");
  app.add_option("--latents", options.latents_file,
                 "Where those of the first profile's last run go, fp32");
}

// Of "auto", or "auto+rms_norm=generic+attention=cudnn".
absl::StatusOr<kernels::KernelPlan> PlanOf(const kernels::KernelCatalog& catalog,
                                           const std::string& name) {
  const std::vector<std::string> parts = absl::StrSplit(name, '+');
  std::map<std::string, std::string> variants;
  for (size_t i = 1; i < parts.size(); ++i) {
    variants.insert(std::pair<std::string, std::string>(absl::StrSplit(parts[i], '=')));
  }
  return catalog.Plan(parts[0], variants);
}

// Of "256x256x25".
absl::Status TakeSize(const std::string& size, model::GenerationSpec& spec) {
  const std::vector<std::string> sides = absl::StrSplit(size, 'x');
  int* const of[] = {&spec.width, &spec.height, &spec.num_frames};
  bool fits = sides.size() == std::size(of);
  for (size_t i = 0; fits && i < sides.size(); ++i) fits = absl::SimpleAtoi(sides[i], of[i]);
  return fits ? absl::OkStatus() : absl::InvalidArgumentError("no size WxHxFRAMES: " + size);
}

absl::StatusOr<Videos> VideosOf(const Options& options, const model::ModelCard& card) {
  std::vector<model::GenerationSpec> asked = {options.asked};
  asked.resize(std::max<size_t>(options.sizes.size(), 1), options.asked);
  Videos videos{{}, options.together, options.apart};
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!options.sizes.empty()) REEL_RETURN_IF_ERROR(TakeSize(options.sizes[i], asked[i]));
    const auto resolved = model::Resolve(asked[i], card, model::RequestLimits(), 0);
    if (!resolved.ok()) return absl::InvalidArgumentError(resolved.violations[0].description);
    videos.specs.push_back(resolved.spec);
  }
  if (videos.together == 0) videos.together = static_cast<int>(asked.size());
  return videos;
}

// Each profile's runs, one of each in turn, and its calls of the last.
absl::Status RunAll(const Options& options, kernels::OpenedDevice& device,
                    model::Pipeline& pipeline, const Videos& videos,
                    std::vector<std::vector<Times>>& runs,
                    std::vector<kernels::KernelCounters>& counters) {
  bench::RangeTimer ranges;
  for (int i = 0; i < options.warm_up + options.repeat; ++i) {
    for (size_t p = 0; p < options.profiles.size(); ++p) {
      REEL_ASSIGN_OR_RETURN(const kernels::KernelPlan plan,
                            PlanOf(device.catalog, options.profiles[p]));
      counters[p] = {};
      const kernels::Execution run{plan, counters[p], options.ranges ? &ranges : nullptr,
                                   device.stream};
      REEL_ASSIGN_OR_RETURN(Times times, RunOnce(pipeline, videos, run));
      if (i >= options.warm_up) runs[p].push_back(std::move(times));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<nlohmann::json> Answer(const std::string& line, kernels::OpenedDevice& device,
                                      model::Pipeline& pipeline, const Videos& videos) {
  const nlohmann::json question = nlohmann::json::parse(line, nullptr, false);
  if (!question.is_object() || !question.contains("profile") || !question["profile"].is_string()) {
    return absl::InvalidArgumentError("a question names a profile");
  }
  const auto profile = question["profile"].get<std::string>();
  REEL_ASSIGN_OR_RETURN(const kernels::KernelPlan plan, PlanOf(device.catalog, profile));
  kernels::KernelCounters counters;
  const kernels::Execution run{plan, counters, nullptr, device.stream};
  const auto start = Clock::now();
  REEL_ASSIGN_OR_RETURN(const Times times, RunOnce(pipeline, videos, run));
  const double request_ms = MillisecondsSince(start);
  nlohmann::json answer = Report(profile, {times}, counters);
  answer["request_ms"] = request_ms;
  answer["steps_ms"] = times.steps_ms;
  return answer;
}

// Another program decides whose turn it is, so that its arms and these stand under one load. A
// question that fails is answered, and the next one still counts.
int AnswerQuestions(kernels::OpenedDevice& device, model::Pipeline& pipeline,
                    const Videos& videos) {
  for (std::string line; std::getline(std::cin, line);) {
    const auto answer = Answer(line, device, pipeline, videos);
    const nlohmann::json said =
        answer.ok() ? *answer : nlohmann::json{{"error", answer.status().ToString()}};
    std::cout << said.dump() << std::endl;
  }
  return 0;
}

int Main(Options options) {
  if (options.ranges && !bench::HasRanges()) {
    return Fail(
        "--ranges: this build has no NVTX; run deploy/build/setup --cuda, and configure again");
  }
  auto opened = kernels::OpenDevice(options.device, options.library);
  if (!opened.ok()) return Fail(opened.status().ToString());
  model::AddModelVariants(opened->catalog);
  options.load.peers = opened->peers;
  const auto start = Clock::now();
  const auto pipeline = model::LoadPipeline(options.load, opened->stream);
  if (!pipeline.ok()) return Fail(pipeline.status().ToString());
  const double load_ms = MillisecondsSince(start);
  const auto videos = VideosOf(options, (*pipeline)->card());
  if (!videos.ok()) return Fail(std::string(videos.status().message()));

  if (options.questions) return AnswerQuestions(*opened, **pipeline, *videos);
  std::vector<std::vector<Times>> runs(options.profiles.size());
  std::vector<kernels::KernelCounters> counters(options.profiles.size());
  if (const absl::Status status = RunAll(options, *opened, **pipeline, *videos, runs, counters);
      !status.ok()) {
    return Fail(status.ToString());
  }
  for (size_t p = 0; p < options.profiles.size(); ++p) {
    nlohmann::json json = Report(options.profiles[p], runs[p], counters[p]);
    json["load_ms"] = load_ms;
    json["width"] = videos->specs[0].width;
    json["height"] = videos->specs[0].height;
    json["num_frames"] = videos->specs[0].num_frames;
    json["together"] = videos->together;
    if (!options.sizes.empty()) json["sizes"] = options.sizes;
    if (videos->apart) json["apart"] = true;
    json["dtype"] = options.load.dtype;
    if (const auto& fit = (*pipeline)->card().fit) {
      json["streamed_blocks"] = fit->streamed_blocks;
      json["step_copies"] = fit->step_copies;
      json["text_copies"] = fit->text_copies;
      json["planned_bytes"] = fit->device_bytes();
      json["host_bytes"] = fit->host_bytes();
    }
    json["device"] = options.device;
    std::cout << json.dump() << std::endl;
  }
  if (!options.latents_file.empty() &&
      !WriteLatents(options.latents_file, runs[0].back().latents)) {
    return Fail("cannot write " + options.latents_file);
  }
  return 0;
}

}  // namespace
}  // namespace reel

int main(int argc, char** argv) {
  reel::Options options;
  options.load.name = "bench";
  options.asked.prompt = "a red fox walks through a snowy forest";
  options.asked.seed = 0;
  CLI::App app("Times one model's pieces", "ltx_bench");
  reel::Describe(app, options);
  CLI11_PARSE(app, argc, argv);
  return reel::Main(std::move(options));
}
