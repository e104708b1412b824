// SPDX-License-Identifier: Apache-2.0
// Measures the engine with several videos in flight, by kernel profile: with its own choice of who
// shares a step, and with batches of a fixed size. One JSON document on stdout.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/kernel_timer.h"
#include "kernels/open_device.h"
#include "model/registry.h"
#include "model/resolve.h"
#include "nlohmann/json.hpp"
#include "server/worker/engine/engine.h"
#include "server/worker/engine/inbox.h"
#include "tests/bench/engine/closed_loop.h"
#include <CLI/CLI.hpp>

namespace reel::worker {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  model::LoadOptions load;
  model::GenerationSpec asked;
  std::string device = "auto", library = kernels::CudaLibraryPath();
  std::vector<std::string> profiles = {"auto", "int8", "fp8", "int8_all", "fp8_all"};
  std::vector<int> in_flight = {8, 16};
  std::vector<int> fixed = {1, 2, 4, 8, 16};
  int servers = 5, videos = 32, warm_up = 8;
  double minutes = 8;
  bool tells_order = false;
};

void Describe(CLI::App& app, Options& options) {
  app.add_option("--model", options.load.path, "Folder of the model; none: the test card");
  app.add_option("--random-weights", options.load.random_weights,
                 "A seed: the folder has configurations alone");
  app.add_option("--dtype", options.load.dtype, "fp32, bf16 or fp16");
  app.add_option("--device", options.device, "cpu, cuda:N or auto");
  app.add_option("--library", options.library, "libreel_cuda.so");
  app.add_option("--width", options.asked.width);
  app.add_option("--height", options.asked.height);
  app.add_option("--num-frames", options.asked.num_frames);
  app.add_option("--steps", options.asked.num_inference_steps);
  app.add_option("--profiles", options.profiles)->delimiter(',');
  app.add_option("--in-flight", options.in_flight, "Videos at a time")->delimiter(',');
  app.add_option("--fixed", options.fixed, "Batches of at most so many, to compare with")
      ->delimiter(',');
  app.add_option("--servers", options.servers, "Engines that begin anew and decide themselves");
  app.add_option("--videos", options.videos, "That count, of each measurement; at least 3 a place");
  app.add_option("--warm-up", options.warm_up, "Before them; at least one a place");
  app.add_option("--minutes", options.minutes, "No measurement begins later");
  app.add_flag("--order", options.tells_order, "Tell the jobs of each step");
}

double Quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(part * static_cast<double>(values.size() - 1))];
}

// Videos that do not move in step are under way when the measurement begins and ends. So the time
// of steps counts as many videos as the steps make, the other time as many as ended.
double RateOf(const LoopResult& result, const Loop& loop) {
  double jobs = 0, seconds = 0;
  for (const auto& [n, took] : result.steps_ms) {
    jobs += static_cast<double>(n * took.size());
    seconds += std::accumulate(took.begin(), took.end(), 0.0) / 1e3;
  }
  const double of_steps = std::min(seconds / result.seconds, 1.0);
  const double stepped = jobs / loop.spec.num_inference_steps;
  return (of_steps * stepped + (1 - of_steps) * loop.videos) / result.seconds;
}

Json Told(const LoopResult& result, const Loop& loop, bool tells_order) {
  double jobs = 0, steps = 0;
  Json by_jobs;
  for (const auto& [n, took] : result.steps_ms) {
    jobs += static_cast<double>(n * took.size());
    steps += static_cast<double>(took.size());
    by_jobs[std::to_string(n)] = {{"steps", took.size()},
                                  {"p10_ms", Quantile(took, 0.1)},
                                  {"median_ms", Quantile(took, 0.5)},
                                  {"p90_ms", Quantile(took, 0.9)}};
  }
  Json told = {{"videos_a_second", RateOf(result, loop)},
               {"ended_a_second", loop.videos / result.seconds},
               {"mean_batch", steps > 0 ? jobs / steps : 0},
               {"steps_by_jobs", by_jobs}};
  if (tells_order) told["order"] = result.order;
  return told;
}

// One worker's engine, from its model's load on. `fixed`: 0 leaves the batch to it.
class Bench {
 public:
  Bench(const Options& options, kernels::OpenedDevice& device)
      : options_(options), device_(device), timer_(kernels::TimerFor(device)) {}

  bool is_over() const { return SteadyNow() - began_ > absl::Minutes(options_.minutes); }

  // By profile and videos in flight what was measured; what there was no time for is left out.
  absl::StatusOr<Json> RunServer(int fixed) {
    ClosedLoop events;
    EngineOptions engine_options{.stream = device_.stream,
                                 .peers = device_.peers,
                                 .device = options_.device,
                                 .most_jobs_in_step = fixed,
                                 .timer = timer_.get(),
                                 .read_memory = model::MemoryReaderFor(device_.stream),
                                 .probe_device = model::DeviceProbeFor(device_.stream),
                                 .return_memory = model::MemoryReturnerFor(device_.stream)};
    Engine engine(std::move(engine_options), device_.catalog, events);
    engine.Post(LoadModel{options_.load});
    std::thread thread([&] { engine.Run(); });
    absl::StatusOr<Json> measured = Measure(engine, events, fixed);
    engine.Stop();
    thread.join();
    return measured;
  }

 private:
  absl::StatusOr<Json> Measure(Engine& engine, ClosedLoop& events, int fixed) {
    REEL_ASSIGN_OR_RETURN(const model::ModelCard card, events.AwaitModel());
    Json measured = Json::object();
    for (const std::string& profile : options_.profiles) {
      model::GenerationSpec asked = options_.asked;
      asked.model = options_.load.name;
      asked.kernels.profile = profile;
      const auto resolved = model::Resolve(asked, card, model::RequestLimits(), 0);
      if (!resolved.ok()) return absl::InvalidArgumentError(resolved.violations[0].description);
      for (const int in_flight : options_.in_flight) {
        if (fixed > in_flight || is_over()) continue;
        const Loop loop{resolved.spec, in_flight, std::max(options_.warm_up, in_flight),
                        std::max(options_.videos, 3 * in_flight)};
        const auto post = [&](EngineCommand command) { engine.Post(std::move(command)); };
        REEL_ASSIGN_OR_RETURN(const LoopResult result, events.Run(loop, post));
        measured[profile][std::to_string(in_flight)] = Told(result, loop, options_.tells_order);
        std::fprintf(stderr, "%s, %d in flight, batch %s: %.2f videos a second\n", profile.c_str(),
                     in_flight, fixed > 0 ? std::to_string(fixed).c_str() : "free",
                     RateOf(result, loop));
      }
    }
    return measured;
  }

  const Options& options_;
  kernels::OpenedDevice& device_;
  const std::unique_ptr<kernels::KernelTimer> timer_;
  const absl::Time began_ = SteadyNow();
};

double RateOf(const Json& server, const std::string& profile, const std::string& in_flight) {
  if (!server.contains(profile) || !server[profile].contains(in_flight)) return 0;
  return server[profile][in_flight]["videos_a_second"];
}

// The best fixed batch, and what part of its rate each server that decided itself had.
Json Compare(const Options& options, const Json& fixed, const Json& servers) {
  Json summary;
  for (const std::string& profile : options.profiles) {
    for (const int in_flight : options.in_flight) {
      const std::string width = std::to_string(in_flight);
      double best = 0;
      std::string batch;
      for (const auto& [size, server] : fixed.items()) {
        const double rate = RateOf(server, profile, width);
        if (rate > best) best = rate, batch = size;
      }
      std::vector<double> shares;
      for (const Json& server : servers) {
        const double rate = RateOf(server, profile, width);
        if (rate > 0 && best > 0) shares.push_back(rate / best);
      }
      summary[profile][width] = {
          {"best_fixed_batch", batch},
          {"videos_a_second", best},
          {"shares", shares},
          {"least_share", shares.empty() ? 0 : *std::min_element(shares.begin(), shares.end())}};
    }
  }
  return summary;
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "engine_bench: %s\n", status.ToString().c_str());
  return 1;
}

// Fixed batches and free decisions take turns, so that both see the machine warm and cold.
int Main(const Options& asked) {
  Options options = asked;
  auto opened = kernels::OpenDevice(options.device, options.library);
  if (!opened.ok()) return Fail(opened.status());
  model::AddModelVariants(opened->catalog);
  options.load.peers = opened->peers;
  options.load.warm_up.sizes = {
      {options.asked.width, options.asked.height, options.asked.num_frames}};
  Bench bench(options, *opened);
  Json fixed = Json::object(), servers = Json::array();
  const size_t rounds = std::max(options.fixed.size(), static_cast<size_t>(options.servers));
  for (size_t round = 0; round < rounds && !bench.is_over(); ++round) {
    if (round < options.fixed.size()) {
      const auto server = bench.RunServer(options.fixed[round]);
      if (!server.ok()) return Fail(server.status());
      fixed[std::to_string(options.fixed[round])] = *server;
    }
    if (round < static_cast<size_t>(options.servers)) {
      const auto server = bench.RunServer(0);
      if (!server.ok()) return Fail(server.status());
      servers.push_back(*server);
    }
  }
  const Json json = {
      {"device", opened->facts.name},
      {"size", {options.asked.width, options.asked.height, options.asked.num_frames}},
      {"steps", options.asked.num_inference_steps},
      {"whole", !bench.is_over()},
      {"summary", Compare(options, fixed, servers)},
      {"fixed", fixed},
      {"servers", servers}};
  std::cout << json.dump(1) << std::endl;
  return 0;
}

}  // namespace
}  // namespace reel::worker

int main(int argc, char** argv) {
  reel::worker::Options options;
  options.load.name = "bench";
  options.asked.prompt = "a red fox walks through a snowy forest";
  options.asked.width = options.asked.height = 256;
  options.asked.num_frames = 25;
  options.asked.num_inference_steps = 30;
  CLI::App app("Videos a second of an engine with several in flight", "engine_bench");
  reel::worker::Describe(app, options);
  CLI11_PARSE(app, argc, argv);
  return reel::worker::Main(options);
}
