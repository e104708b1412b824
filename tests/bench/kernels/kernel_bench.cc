// SPDX-License-Identifier: Apache-2.0
// Times every variant of every operator beside a copy of the same bytes, and checks its results.
//
//   kernel_bench [--preset short|spec] [--op NAME] [--dtype fp16|bf16|fp32|all] [--shape
//   ROWSxWIDTH]
//                [--variant NAME] [--cache cold|hot|both] [--rounds 3] [--samples 5]
//                [--inject_error yes] [--note TEXT] [--json FILE]
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "tests/bench/kernels/bench_measure.h"

namespace reel::kernels {
namespace {

struct Flags {
  BenchPreset preset = BenchPreset::kShort;
  BenchSize only{0, 0};
  std::string op;
  std::vector<Dtype> dtypes = {Dtype::kBf16};
  MeasureOptions measure;
  std::string note;
  std::string json;
};

bool ParseDtypes(const std::string& value, std::vector<Dtype>& dtypes) {
  dtypes.clear();
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kF16, Dtype::kF32}) {
    if (value == "all" || value == DtypeName(dtype)) dtypes.push_back(dtype);
  }
  return !dtypes.empty();
}

bool ParseShape(const std::string& value, BenchSize& size) {
  const std::vector<std::string> sides = absl::StrSplit(value, 'x');
  return sides.size() == 2 && absl::SimpleAtoi(sides[0], &size.rows) &&
         absl::SimpleAtoi(sides[1], &size.width) && size.rows > 0;
}

bool ParseFlags(int argc, char** argv, Flags& flags) {
  MeasureOptions& measure = flags.measure;
  using Parser = std::function<bool(const std::string&)>;
  const auto text = [](std::string& to) -> Parser {
    return [&to](const std::string& value) {
      to = value;
      return true;
    };
  };
  const auto number = [](int& to) -> Parser {
    return [&to](const std::string& value) { return absl::SimpleAtoi(value, &to) && to > 0; };
  };
  const std::map<std::string, Parser> parsers = {
      {"--op", text(flags.op)},
      {"--note", text(flags.note)},
      {"--json", text(flags.json)},
      {"--variant", text(measure.variant)},
      {"--rounds", number(measure.rounds)},
      {"--samples", number(measure.samples)},
      {"--dtype", [&](const std::string& value) { return ParseDtypes(value, flags.dtypes); }},
      {"--shape", [&](const std::string& value) { return ParseShape(value, flags.only); }},
      {"--preset",
       [&](const std::string& value) {
         flags.preset = value == "spec" ? BenchPreset::kSpec : BenchPreset::kShort;
         return value == "spec" || value == "short";
       }},
      {"--cache",
       [&](const std::string& value) {
         measure.cold = value != "hot";
         measure.hot = value != "cold";
         return value == "cold" || value == "hot" || value == "both";
       }},
      {"--inject_error",
       [&](const std::string& value) {
         measure.inject_error = value == "yes";
         return value == "yes" || value == "no";
       }},
  };
  for (int i = 1; i + 1 < argc; i += 2) {
    const auto parser = parsers.find(argv[i]);
    if (parser == parsers.end() || !parser->second(argv[i + 1])) return false;
  }
  return argc % 2 == 1;
}

void Print(const nlohmann::json& row) {
  const bool copy = row["kind"] == "copy";
  const char* verdict = copy ? "" : (row["check"]["pass"].get<bool>() ? "PASS" : "FAIL");
  std::printf("%-20s %-16s %-32s %-4s %-4s %9.2f us %8.1f GB/s %6.3f x copy %s",
              row["op"].get<std::string>().c_str(), row["variant"].get<std::string>().c_str(),
              row["shape"].get<std::string>().c_str(), row["dtype"].get<std::string>().c_str(),
              row["cache"].get<std::string>().c_str(), row["microseconds"]["median"].get<double>(),
              row["gb_per_s"].get<double>(), row["times_copy"].get<double>(), verdict);
  if (row.contains("tflop_per_s")) std::printf(" %.1f TFLOP/s", row["tflop_per_s"].get<double>());
  std::printf("\n");
}

std::string Now() {
  const std::time_t now = std::time(nullptr);
  char text[32] = {};
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

// False when a case could not run or computed something else than the reference.
bool MeasureInto(BenchDevice& device, const BenchCase& bench, const Flags& flags,
                 nlohmann::json& rows) {
  const auto measured = MeasureCase(device, bench, flags.measure);
  if (!measured.ok()) {
    std::cerr << bench.op << " " << bench.shape << ": " << measured.status() << "\n";
    return false;
  }
  bool right = true;
  for (const nlohmann::json& row : *measured) {
    Print(row);
    right = right && (row["kind"] == "copy" || row["check"]["pass"].get<bool>());
    rows.push_back(row);
  }
  return right;
}

int Run(const Flags& flags) {
  const auto device = OpenBenchDevice();
  if (!device.ok()) {
    std::cerr << device.status() << "\n";
    return 1;
  }
  nlohmann::json report = {{"metadata", (*device)->Describe()}, {"rows", nlohmann::json::array()}};
  report["metadata"]["date"] = Now();
  report["metadata"]["note"] = flags.note;
  bool right = true;
  for (const Dtype dtype : flags.dtypes) {
    for (const BenchCase& bench : BenchCases(dtype, flags.preset, flags.only)) {
      if (!flags.op.empty() && flags.op != bench.op) continue;
      right = MeasureInto(**device, bench, flags, report["rows"]) && right;
    }
  }
  if (!flags.json.empty()) std::ofstream(flags.json) << report.dump(1) << "\n";
  return right && !report["rows"].empty() ? 0 : 1;
}

}  // namespace
}  // namespace reel::kernels

int main(int argc, char** argv) {
  reel::kernels::Flags flags;
  if (!reel::kernels::ParseFlags(argc, argv, flags)) {
    std::cerr << "usage: kernel_bench [--preset short|spec] [--op NAME] [--dtype "
                 "fp16|bf16|fp32|all] [--shape ROWSxWIDTH] [--variant NAME] [--cache "
                 "cold|hot|both] [--rounds N] [--samples N] [--inject_error yes] [--note TEXT] "
                 "[--json FILE]\n";
    return 2;
  }
  return reel::kernels::Run(flags);
}
