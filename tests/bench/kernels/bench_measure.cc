// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/kernels/bench_measure.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "kernels/base/status_macros.h"
#include "kernels/dispatch/kernel_counters.h"
#include "tests/bench/kernels/bench_check.h"

namespace reel::kernels {
namespace {

constexpr int64_t kTimesTheCache = 4;

// One thing that is timed.
struct Contender {
  std::string name;
  bool copy = false;
  nlohmann::json check;
  std::unique_ptr<TimedCalls> calls;
  std::vector<double> microseconds;
};

nlohmann::json StatisticsOf(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const auto count = static_cast<double>(samples.size());
  const auto at = [&](double part) { return samples[static_cast<size_t>(part * (count - 1))]; };
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const double sample : samples) squares += (sample - mean) * (sample - mean);
  const double deviation = samples.size() < 2 ? 0 : std::sqrt(squares / (count - 1));
  return {{"n", samples.size()},
          {"median", at(0.5)},
          {"mean", mean},
          {"min", at(0)},
          {"max", at(1)},
          {"std", deviation},
          {"iqr", at(0.75) - at(0.25)},
          {"ci95_of_mean", 1.96 * deviation / std::sqrt(count)}};
}

// The tensors of a case, as often as it takes to leave the caches, and everything timed on them.
class CaseBench {
 public:
  CaseBench(BenchDevice& device, const BenchCase& bench, const MeasureOptions& options)
      : device_(device), bench_(bench), options_(options) {}
  ~CaseBench() { device_.Release(); }
  CaseBench(const CaseBench&) = delete;
  CaseBench& operator=(const CaseBench&) = delete;

  absl::StatusOr<nlohmann::json> Run() {
    REEL_RETURN_IF_ERROR(MakeSets());
    REEL_RETURN_IF_ERROR(MakePlans());
    REEL_RETURN_IF_ERROR(CheckAll());
    nlohmann::json rows = nlohmann::json::array();
    for (const bool cold : {true, false}) {
      if (!(cold ? options_.cold : options_.hot)) continue;
      REEL_RETURN_IF_ERROR(Sample(cold ? sets_.size() : 1));
      AddRows(cold, rows);
    }
    return rows;
  }

 private:
  struct Set {
    explicit Set(BenchDevice& device) : tensors(device) {}
    BenchTensors tensors;
    BenchOp op;
    void* from = nullptr;  // of the copies
    void* to = nullptr;
  };

  absl::Status MakeSets() {
    size_t wanted = 1;
    for (size_t i = 0; i < wanted; ++i) {
      sets_.push_back(std::make_unique<Set>(device_));
      Set& set = *sets_.back();
      set.op = bench_.make(set.tensors, bench_.units);
      REEL_RETURN_IF_ERROR(set.tensors.status());
      bytes_ = set.tensors.bytes();
      REEL_ASSIGN_OR_RETURN(set.from, device_.Allocate(bytes_ / 2));
      REEL_ASSIGN_OR_RETURN(set.to, device_.Allocate(bytes_ / 2));
      const int64_t enough = kTimesTheCache * device_.cache_bytes() / std::max<int64_t>(bytes_, 1);
      if (options_.cold) wanted = static_cast<size_t>(std::clamp<int64_t>(enough + 1, 2, 64));
    }
    return absl::OkStatus();
  }

  absl::Status MakePlans() {
    for (const CatalogVariant& entry : device_.catalog().Variants(bench_.op)) {
      const bool for_cpu = entry.variant.max_sm == kCpuOnly;
      if (for_cpu == (device_.stream().device >= 0)) continue;
      const std::string variant = entry.variant.name;
      if (!options_.variant.empty() && options_.variant != variant) continue;
      if (!bench_.variant.empty() && bench_.variant != variant) continue;
      REEL_ASSIGN_OR_RETURN(plans_[variant],
                            device_.catalog().Plan("auto", {{bench_.op, variant}}));
      contenders_.push_back({variant, false, {}, nullptr, {}});
    }
    for (const std::string& how : device_.copies()) {
      contenders_.push_back({how, true, {}, nullptr, {}});
    }
    return absl::OkStatus();
  }

  Execution RunOf(const std::string& variant) {
    return {.plan = plans_[variant],
            .counters = counters_,
            .timer = nullptr,
            .stream = device_.stream()};
  }

  // Variants that decline the call are left out: an operator has some for other forms of it. One
  // must be left.
  absl::Status CheckAll() {
    REEL_ASSIGN_OR_RETURN(const auto reference, BenchReference::Compute(bench_));
    std::vector<Contender> taking;
    absl::Status declined;
    bool any = false;
    for (Contender& contender : contenders_) {
      if (!contender.copy) {
        Set& set = *sets_.front();
        REEL_RETURN_IF_ERROR(set.tensors.Poison());
        const absl::Status status = set.op(RunOf(contender.name));
        if (absl::IsFailedPrecondition(status)) {
          declined = status;
          continue;
        }
        REEL_RETURN_IF_ERROR(status);
        REEL_ASSIGN_OR_RETURN(contender.check,
                              reference->Compare(device_, set.tensors, options_.inject_error));
        any = true;
      }
      taking.push_back(std::move(contender));
    }
    contenders_ = std::move(taking);
    return any ? absl::OkStatus() : declined;
  }

  absl::Status Sample(size_t sets) {
    for (Contender& contender : contenders_) {
      std::vector<BenchCall> calls;
      for (size_t i = 0; i < sets; ++i) calls.push_back(CallOf(contender, *sets_[i]));
      REEL_ASSIGN_OR_RETURN(contender.calls, device_.Prepare(calls));
      contender.microseconds.clear();
    }
    for (int round = 0; round < options_.rounds; ++round) {
      for (Contender& contender : contenders_) {
        for (int sample = 0; sample < options_.samples; ++sample) {
          REEL_ASSIGN_OR_RETURN(const double microseconds, contender.calls->Sample());
          contender.microseconds.push_back(microseconds);
        }
      }
    }
    return absl::OkStatus();
  }

  BenchCall CallOf(const Contender& contender, Set& set) {
    if (contender.copy) {
      return [this, how = contender.name, &set] {
        return device_.Copy(how, set.to, set.from, bytes_ / 2);
      };
    }
    return [this, variant = contender.name, &set] { return set.op(RunOf(variant)); };
  }

  void AddRows(bool cold, nlohmann::json& rows) {
    double copy = 0;
    std::vector<std::pair<const Contender*, nlohmann::json>> all;
    for (const Contender& contender : contenders_) {
      all.emplace_back(&contender, StatisticsOf(contender.microseconds));
      const double median = all.back().second["median"];
      if (contender.copy && (copy == 0 || median < copy)) copy = median;
    }
    for (const auto& [contender, statistics] : all) {
      const double median = statistics["median"];
      nlohmann::json row = {{"op", bench_.op},
                            {"variant", contender->name},
                            {"kind", contender->copy ? "copy" : "reel"},
                            {"shape", bench_.shape},
                            {"dtype", DtypeName(bench_.dtype)},
                            {"cache", cold ? "cold" : "hot"},
                            {"sets", cold ? sets_.size() : 1},
                            {"microseconds", statistics},
                            {"bytes", bytes_},
                            {"gb_per_s", static_cast<double>(bytes_) / median / 1e3},
                            {"copy_microseconds", copy},
                            {"times_copy", median / copy}};
      if (!contender->copy) row["check"] = contender->check;
      if (!contender->copy && bench_.operations > 0) {
        row["tflop_per_s"] = bench_.operations / median / 1e6;
      }
      rows.push_back(row);
    }
  }

  BenchDevice& device_;
  const BenchCase& bench_;
  const MeasureOptions& options_;
  std::vector<std::unique_ptr<Set>> sets_;
  std::map<std::string, KernelPlan> plans_;
  std::vector<Contender> contenders_;
  KernelCounters counters_;
  int64_t bytes_ = 0;
};

}  // namespace

absl::StatusOr<nlohmann::json> MeasureCase(BenchDevice& device, const BenchCase& bench,
                                           const MeasureOptions& options) {
  return CaseBench(device, bench, options).Run();
}

}  // namespace reel::kernels
