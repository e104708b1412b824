// SPDX-License-Identifier: Apache-2.0
// Times every variant of every operator on the CPU, beside a copy of the same bytes.
//
//   kernel_bench [--op NAME] [--dtype fp16|bf16|fp32] [--shape ROWSxWIDTH] [--variant NAME]
//                [--min_ms 100] [--json FILE]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "kernels/built_in_catalog.h"
#include "kernels/dispatch/kernel_counters.h"
#include "tests/bench/kernels/bench_case.h"

namespace reel::kernels {
namespace {

struct Flags {
  std::string op;
  std::string dtype = "bf16";
  std::string variant;
  std::string json;
  int64_t rows = 0;
  int64_t width = 0;
  int min_ms = 100;
};

bool ParseFlags(int argc, char** argv, Flags& flags) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = argv[i + 1];
    const std::vector<std::string> sides = absl::StrSplit(value, 'x');
    bool legal = true;
    if (name == "--op") {
      flags.op = value;
    } else if (name == "--dtype") {
      flags.dtype = value;
    } else if (name == "--variant") {
      flags.variant = value;
    } else if (name == "--json") {
      flags.json = value;
    } else if (name == "--min_ms") {
      legal = absl::SimpleAtoi(value, &flags.min_ms);
    } else if (name == "--shape") {
      legal = sides.size() == 2 && absl::SimpleAtoi(sides[0], &flags.rows) &&
              absl::SimpleAtoi(sides[1], &flags.width);
    } else {
      legal = false;
    }
    if (!legal) return false;
  }
  return argc % 2 == 1;
}

// The median time of a call, from at least `min_ms` of calls after one that warms up.
template <typename Body>
double MedianSeconds(int min_ms, const Body& body) {
  using Clock = std::chrono::steady_clock;
  body();
  std::vector<double> seconds;
  const auto end = Clock::now() + std::chrono::milliseconds(min_ms);
  while (Clock::now() < end || seconds.size() < 5) {
    const auto start = Clock::now();
    body();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<int64_t>(seconds.size() / 2),
                   seconds.end());
  return seconds[seconds.size() / 2];
}

// Half the bytes read, half written.
double CopySeconds(int64_t bytes, int min_ms) {
  const std::vector<char> from(static_cast<size_t>(bytes / 2), 1);
  std::vector<char> to(from.size());
  return MedianSeconds(min_ms, [&] {
    std::memcpy(to.data(), from.data(), from.size());
    asm volatile("" : : "r"(to.data()) : "memory");
  });
}

nlohmann::json Measure(const BenchCase& bench, const std::string& variant, double copy,
                       const KernelCatalog& catalog, int min_ms) {
  const auto plan = catalog.Plan("auto", {{bench.op, variant}});
  if (!plan.ok()) return {{"error", std::string(plan.status().message())}};
  KernelCounters counters;
  const Execution run{.plan = *plan, .counters = counters, .timer = nullptr, .stream = {}};
  if (const absl::Status status = bench.run(run); !status.ok()) {
    return {{"error", std::string(status.message())}};
  }
  const double seconds = MedianSeconds(min_ms, [&] { static_cast<void>(bench.run(run)); });
  return {{"op", bench.op},
          {"variant", variant},
          {"shape", bench.shape},
          {"dtype", DtypeName(bench.dtype)},
          {"microseconds", seconds * 1e6},
          {"bytes", bench.bytes},
          {"gb_per_s", static_cast<double>(bench.bytes) / seconds / 1e9},
          {"copy_microseconds", copy * 1e6},
          {"times_copy", seconds / copy}};
}

void Print(const nlohmann::json& row) {
  if (row.contains("error")) {
    std::printf("%s\n", row["error"].get<std::string>().c_str());
    return;
  }
  std::printf("%-22s %-7s %-22s %-5s %10.1f us %8.2f GB/s %6.2f x copy\n",
              row["op"].get<std::string>().c_str(), row["variant"].get<std::string>().c_str(),
              row["shape"].get<std::string>().c_str(), row["dtype"].get<std::string>().c_str(),
              row["microseconds"].get<double>(), row["gb_per_s"].get<double>(),
              row["times_copy"].get<double>());
}

Dtype DtypeNamed(const std::string& name) {
  if (name == "fp16") return Dtype::kF16;
  return name == "fp32" ? Dtype::kF32 : Dtype::kBf16;
}

int Run(const Flags& flags) {
  const KernelCatalog catalog = BuiltInCatalog();
  nlohmann::json report = {{"metadata", {{"device", "cpu"}, {"time", "host"}, {"threads", 1}}},
                           {"rows", nlohmann::json::array()}};
  bool failed = false;
  for (const BenchCase& bench : BenchCases(DtypeNamed(flags.dtype), flags.rows, flags.width)) {
    if (!flags.op.empty() && flags.op != bench.op) continue;
    const double copy = CopySeconds(bench.bytes, flags.min_ms);
    for (const std::string& variant : catalog.Variants(bench.op)) {
      if (!flags.variant.empty() && flags.variant != variant) continue;
      const auto row = Measure(bench, variant, copy, catalog, flags.min_ms);
      failed = failed || row.contains("error");
      Print(row);
      report["rows"].push_back(row);
    }
  }
  if (!flags.json.empty()) std::ofstream(flags.json) << report.dump(1) << "\n";
  return failed || report["rows"].empty() ? 1 : 0;
}

}  // namespace
}  // namespace reel::kernels

int main(int argc, char** argv) {
  reel::kernels::Flags flags;
  if (!reel::kernels::ParseFlags(argc, argv, flags)) {
    std::cerr << "usage: kernel_bench [--op NAME] [--dtype fp16|bf16|fp32] [--shape ROWSxWIDTH] "
                 "[--variant NAME] [--min_ms 100] [--json FILE]\n";
    return 2;
  }
  return reel::kernels::Run(flags);
}
