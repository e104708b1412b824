// SPDX-License-Identifier: Apache-2.0
// cuDNN's plans for one convolution of the decoder under lasting load: what cuda/conv_table.cc of
// model/bridge is made from.
//
//   conv_sweep 128x128x16x128x192 1024x1024x7x16x24      channels, outputs, frames, rows, columns
//
// Each plan of the engine for Hopper's tensor cores is timed once by a few calls. Then the best of
// them, or those named by --plan, and the library's own choice take turns in rounds. One JSON line
// for each shape; a plan is its knobs in the order of ConvKnobs.
#include <ATen/cudnn/Handle.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/torch_cuda/conv_plan.h"
#include "nlohmann/json.hpp"
#include <CLI/CLI.hpp>

namespace reel::model {
namespace {

struct Options {
  std::vector<std::string> shapes, plans;
  int finals = 6, rounds = 4;
  double round_ms = 12;
};

constexpr double kMostDistance = 5e-3;
constexpr int kQuickCalls = 3;

struct Operands {
  at::Tensor x, weight, out, expected;
};

at::Tensor Draw(at::IntArrayRef sizes) {
  const auto options = at::TensorOptions(at::kBFloat16).device(at::kCUDA);
  return at::randn(sizes, options).contiguous(at::MemoryFormat::ChannelsLast3d);
}

at::Tensor ByLibrary(const Operands& of) {
  return at::conv3d(of.x, of.weight, {}, at::IntArrayRef({1, 1, 1}), at::IntArrayRef({0, 1, 1}));
}

Operands OperandsOf(const ConvShape& shape) {
  Operands of = {Draw({1, shape.channels, shape.frames + 2, shape.rows, shape.columns}),
                 Draw({shape.outputs, shape.channels, 3, 3, 3}),
                 {},
                 {}};
  of.expected = ByLibrary(of);
  of.out = at::empty_like(of.expected);
  return of;
}

template <typename Run>
double MicrosecondsOf(const Run& run, int calls) {
  const c10::Stream stream =
      c10::impl::VirtualGuardImpl(at::kCUDA).getStream(at::Device(at::kCUDA, 0));
  c10::Event begin(at::kCUDA, c10::EventFlag::BACKEND_DEFAULT);
  c10::Event end(at::kCUDA, c10::EventFlag::BACKEND_DEFAULT);
  begin.record(stream);
  for (int i = 0; i < calls; ++i) run();
  end.record(stream);
  end.synchronize();
  return 1e3 * begin.elapsedTime(end) / calls;
}

struct Candidate {
  ConvKnobs knobs;
  std::optional<ConvPlan> plan;  // none: the library's own choice
  double quick = 0;
  std::vector<double> times = {};

  double median() const {
    std::vector<double> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
  std::string name() const {
    const ConvKnobs& k = knobs;
    return plan ? absl::StrFormat("%d %d %d %d %d %d", k.tile, k.tile_k, k.index_mode, k.workspace,
                                  k.cluster_m, k.cluster_n)
                : "library";
  }
  void Run(const Operands& of) const {
    if (!plan.has_value()) {
      ByLibrary(of);
      return;
    }
    const at::Tensor space = at::empty({plan->workspace_bytes()}, of.x.options().dtype(at::kByte));
    plan->Run(at::native::getCudnnHandle(), of.x, of.weight, space, of.out);
  }
};

std::vector<ConvKnobs> AllKnobs() {
  const std::pair<int64_t, int64_t> clusters[] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {1, 4},
                                                  {4, 1}, {2, 4}, {4, 2}, {1, 8}, {8, 1},
                                                  {1, 3}, {1, 5}, {5, 1}, {7, 1}, {4, 4}};
  std::vector<ConvKnobs> all;
  for (int64_t tile = 0; tile < 10; ++tile) {
    for (const int64_t tile_k : {1, 0}) {
      for (const int64_t workspace : {0, 1}) {
        for (const auto& [m, n] : clusters) all.push_back({tile, tile_k, 0, workspace, m, n});
      }
    }
  }
  return all;
}

// Of "0 1 0 0 1 2" and "128x128x16x128x192"; throws where they are not so many numbers.
template <size_t kCount>
std::array<int64_t, kCount> ParseNumbers(const std::string& text, char between) {
  const std::vector<std::string> parts = absl::StrSplit(text, between);
  std::array<int64_t, kCount> numbers = {};
  bool whole = parts.size() == kCount;
  for (size_t i = 0; whole && i < kCount; ++i) whole = absl::SimpleAtoi(parts[i], &numbers[i]);
  if (!whole) throw CLI::ValidationError(text, absl::StrFormat("wanted are %d numbers", kCount));
  return numbers;
}

ConvKnobs ParseKnobs(const std::string& text) {
  const auto [tile, tile_k, index_mode, workspace, m, n] = ParseNumbers<6>(text, ' ');
  return {tile, tile_k, index_mode, workspace, m, n};
}

ConvShape ParseShape(const std::string& text) {
  const auto [channels, outputs, frames, rows, columns] = ParseNumbers<5>(text, 'x');
  if (std::min({channels, outputs, frames, rows, columns}) < 1) {
    throw CLI::ValidationError(text, "no size is below 1");
  }
  return {channels, outputs, frames, rows, columns};
}

bool IsRight(const Candidate& candidate, const Operands& of) {
  of.out.zero_();
  candidate.Run(of);
  const at::Tensor wide = of.expected.to(at::kFloat);
  const at::Tensor distance = (of.out.to(at::kFloat) - wide).norm() / wide.norm();
  return distance.item<double>() < kMostDistance;
}

std::vector<Candidate> CandidatesFor(const ConvShape& shape, const std::vector<ConvKnobs>& all,
                                     const Operands& of) {
  std::vector<Candidate> taken;
  for (const ConvKnobs& knobs : all) {
    try {
      Candidate candidate = {knobs, ConvPlan::Make(at::native::getCudnnHandle(), shape, knobs)};
      if (!candidate.plan.has_value()) continue;
      if (!IsRight(candidate, of)) {
        std::cerr << candidate.name() << ": wrong\n";
        continue;
      }
      candidate.quick = MicrosecondsOf([&] { candidate.Run(of); }, kQuickCalls);
      taken.push_back(std::move(candidate));
    } catch (const c10::Error& error) {
      std::cerr << shape.channels << "x" << shape.outputs << ": " << error.what_without_backtrace()
                << "\n";
    }
  }
  return taken;
}

void Sweep(const ConvShape& shape, const std::vector<ConvKnobs>& knobs, const Options& options) {
  const Operands of = OperandsOf(shape);
  std::vector<Candidate> all = CandidatesFor(shape, knobs, of);
  const size_t count = all.size();
  std::sort(all.begin(), all.end(),
            [](const Candidate& a, const Candidate& b) { return a.quick < b.quick; });
  std::vector<Candidate> finals(1);
  for (size_t i = 0; i < all.size() && i < static_cast<size_t>(options.finals); ++i) {
    finals.push_back(std::move(all[i]));
  }
  const double once = MicrosecondsOf([&] { ByLibrary(of); }, kQuickCalls);
  const int calls = std::max(3, static_cast<int>(1e3 * options.round_ms / once));
  for (int round = 0; round <= options.rounds; ++round) {
    for (size_t i = 0; i < finals.size(); ++i) {
      Candidate& candidate = finals[round % 2 == 0 ? i : finals.size() - 1 - i];
      const double time = MicrosecondsOf([&] { candidate.Run(of); }, calls);
      if (round > 0) candidate.times.push_back(time);  // the first is to warm up
    }
  }
  const double flop = 2.0 * 27 * static_cast<double>(shape.channels * shape.outputs) *
                      static_cast<double>(shape.positions());
  nlohmann::ordered_json line = {
      {"shape", {shape.channels, shape.outputs, shape.frames, shape.rows, shape.columns}},
      {"positions", shape.positions()},
      {"plans", count}};
  std::sort(finals.begin() + 1, finals.end(),
            [](const Candidate& a, const Candidate& b) { return a.median() < b.median(); });
  for (const Candidate& candidate : finals) {
    const double us = candidate.median();
    line["us"].push_back({{candidate.name(), absl::StrFormat("%.1f", us)}});
    line["tflops"].push_back(static_cast<int>(flop / us / 1e6));
  }
  std::cout << line.dump() << std::endl;
}

int Main(int argc, char** argv) {
  CLI::App app("cuDNN's plans for convolutions of the decoder, by time");
  Options options;
  app.add_option("shapes", options.shapes, "CHANNELSxOUTPUTSxFRAMESxROWSxCOLUMNS")->required();
  app.add_option("--plan", options.plans, "Of these alone; may be given more than once")
      ->allow_extra_args(false);
  app.add_option("--finals", options.finals, "Plans that are timed in rounds");
  app.add_option("--rounds", options.rounds);
  app.add_option("--round-ms", options.round_ms, "Time of one plan in a round");
  CLI11_PARSE(app, argc, argv);
  std::vector<ConvKnobs> knobs;
  std::vector<ConvShape> shapes;
  try {
    for (const std::string& plan : options.plans) knobs.push_back(ParseKnobs(plan));
    for (const std::string& shape : options.shapes) shapes.push_back(ParseShape(shape));
  } catch (const CLI::Error& error) {
    return app.exit(error);
  }
  if (knobs.empty()) knobs = AllKnobs();
  for (const ConvShape& shape : shapes) Sweep(shape, knobs, options);
  return 0;
}

}  // namespace
}  // namespace reel::model

int main(int argc, char** argv) { return reel::model::Main(argc, argv); }
