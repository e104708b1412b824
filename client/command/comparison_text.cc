// SPDX-License-Identifier: Apache-2.0
#include "client/command/comparison_text.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/command/arm.h"
#include "client/command/bill_text.h"
#include "client/command/json_output.h"
#include "client/command/quantity.h"
#include "client/command/text_table.h"

namespace reel::client {
namespace {

// Variants that are exact up to rounding give at least this PSNR.
constexpr double kLeastPsnrDb = 40;

struct Cost {
  absl::Duration time;
  std::set<std::string> variants;
  std::string variant_text() const {
    std::string text;
    for (const std::string& one : variants) absl::StrAppend(&text, text.empty() ? "" : ", ", one);
    return text;
  }
};

using OpKey = std::pair<v1::RunPart, std::string>;

std::map<OpKey, Cost> CostsOf(const v1::RunStats& stats) {
  std::map<OpKey, Cost> costs;
  for (const v1::OperatorCost& one : stats.operators()) {
    Cost& cost = costs[{one.part(), one.op()}];
    cost.time += FromProto(one.estimate());
    if (!one.variant().empty()) cost.variants.insert(one.variant());
  }
  return costs;
}

// Finer than HumanDuration: most operators take less than a millisecond.
std::string Milliseconds(absl::Duration duration) {
  return absl::StrFormat("%.2f ms", absl::ToDoubleMilliseconds(duration));
}

std::string RatioText(absl::Duration a, absl::Duration b) {
  if (a <= absl::ZeroDuration() || b <= absl::ZeroDuration()) return "";
  return absl::StrFormat("%.2f", absl::FDivDuration(b, a));
}

std::string PartTable(const ArmVideos& videos) {
  std::map<v1::RunPart, std::pair<absl::Duration, absl::Duration>> parts;
  for (const auto& part : videos.a.stats().parts())
    parts[part.part()].first = FromProto(part.time());
  for (const auto& part : videos.b.stats().parts()) {
    parts[part.part()].second = FromProto(part.time());
  }
  TextTable table({"part", "A", "B", "B/A"});
  const auto add = [&table](const std::string& name, absl::Duration a, absl::Duration b) {
    table.AddRow({name, Milliseconds(a), Milliseconds(b), RatioText(a, b)});
  };
  for (const auto& [part, times] : parts) add(PartName(part), times.first, times.second);
  add("total", FromProto(videos.a.stats().total()), FromProto(videos.b.stats().total()));
  return table.Render();
}

std::string OperatorTable(const ArmVideos& videos) {
  std::map<OpKey, Cost> a = CostsOf(videos.a.stats()), b = CostsOf(videos.b.stats());
  std::vector<OpKey> keys;
  for (const auto& [key, cost] : a) keys.push_back(key);
  for (const auto& [key, cost] : b) {
    if (a.count(key) == 0) keys.push_back(key);
  }
  if (keys.empty()) return "";
  std::stable_sort(keys.begin(), keys.end(), [&](const OpKey& one, const OpKey& other) {
    return std::max(a[one].time, b[one].time) > std::max(a[other].time, b[other].time);
  });
  TextTable table({"operator", "in", "A", "A took", "B", "B took", "B/A"});
  for (const OpKey& key : keys) {
    table.AddRow({key.second, PartName(key.first), a[key].variant_text(), Milliseconds(a[key].time),
                  b[key].variant_text(), Milliseconds(b[key].time),
                  RatioText(a[key].time, b[key].time)});
  }
  return absl::StrCat("\n", table.Render());
}

std::string WhatDiffers(const ArmVideos& videos) {
  auto a = VariantsThatRan(videos.a.stats()), b = VariantsThatRan(videos.b.stats());
  for (const auto& [op, variants] : b) a.try_emplace(op, "-");
  TextTable table({"operator", "A ran", "B ran"});
  bool differs = false;
  for (const auto& [op, variants] : a) {
    const auto other = b.find(op);
    const std::string ran = other == b.end() ? "-" : other->second;
    if (ran == variants) continue;
    differs = true;
    table.AddRow({op, variants, ran});
  }
  return differs ? table.Render() + "\n" : "";
}

std::string VerdictText(const PairResult& result) {
  const double ratio = result.ratio ? result.ratio->value : 1;
  switch (result.verdict) {
    case Verdict::kFaster:
      return absl::StrFormat("a step of B takes %.1f %% less time than one of A",
                             (1 - ratio) * 100);
    case Verdict::kSlower:
      if (ratio >= 2)
        return absl::StrFormat("a step of B takes %.1f times as long as one of A", ratio);
      return absl::StrFormat("a step of B takes %.1f %% more time than one of A",
                             (ratio - 1) * 100);
    case Verdict::kNone:
      return "no difference was found";
    case Verdict::kTooFew:
      return absl::StrFormat("not enough data: %d pairs of at least %d", result.pairs, kLeastPairs);
    case Verdict::kSameKernels:
      return "none: both arms ran the same kernels";
  }
  return "";
}

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFaster:
      return "faster";
    case Verdict::kSlower:
      return "slower";
    case Verdict::kNone:
      return "no_difference";
    case Verdict::kTooFew:
      return "not_enough_data";
    case Verdict::kSameKernels:
      return "same_kernels";
  }
  return "";
}

}  // namespace

std::string CompareBills(const ArmVideos& videos) {
  return absl::StrCat("A: ", videos.name_a, "\nB: ", videos.name_b, "\n\n", PartTable(videos),
                      OperatorTable(videos));
}

std::string DistanceWarning(const ArmVideos& videos, const std::optional<FrameDistance>& distance) {
  if (!distance || !distance->psnr_db || *distance->psnr_db >= kLeastPsnrDb) return "";
  if (RanLossy(videos.a.stats()) || RanLossy(videos.b.stats())) return "";
  return absl::StrFormat(
      "note: variants that are exact up to rounding give pictures of at least %g dB\n",
      kLeastPsnrDb);
}

std::string AbText(const AbReport& report) {
  const ArmVideos& videos = report.videos;
  std::string text = absl::StrCat("A: ", videos.name_a, "\nB: ", videos.name_b, "\n\n",
                                  WhatDiffers(videos), "pairs ", report.result.pairs);
  if (report.result.ratio) {
    const Ratio& ratio = *report.result.ratio;
    absl::StrAppendFormat(&text,
                          ", step time B/A %.4f (95 %% interval %.4f to %.4f), p %.2g (Wilcoxon)",
                          ratio.value, ratio.low, ratio.high, report.result.p);
  }
  absl::StrAppend(
      &text, "\npictures ", report.distance ? DistanceText(*report.distance) : "unknown", "\n",
      DistanceWarning(videos, report.distance), "verdict: ", VerdictText(report.result), "\n");
  return text;
}

std::string AbJson(const AbReport& report) {
  const PairResult& result = report.result;
  std::string text = absl::StrFormat(
      R"({"a":%s,"b":%s,"pairs":%d,"p":%.6g,"verdict":"%s")", JsonString(report.videos.name_a),
      JsonString(report.videos.name_b), result.pairs, result.p, VerdictName(result.verdict));
  if (result.ratio) {
    absl::StrAppendFormat(&text, R"(,"ratio":%.6f,"low":%.6f,"high":%.6f)", result.ratio->value,
                          result.ratio->low, result.ratio->high);
  }
  if (report.distance) {
    absl::StrAppendFormat(&text, R"(,"identical":%s,"ssim":%.6f)",
                          report.distance->psnr_db ? "false" : "true", report.distance->ssim);
    if (report.distance->psnr_db) {
      absl::StrAppendFormat(&text, R"(,"psnrDb":%.3f)", *report.distance->psnr_db);
    }
  }
  std::string pairs;
  for (const StepPair& pair : report.pairs) {
    absl::StrAppendFormat(&pairs, "%s[%.9f,%.9f]", pairs.empty() ? "" : ",", pair.a, pair.b);
  }
  return absl::StrCat(text, R"(,"stepSeconds":[)", pairs, R"(],"videoA":)", JsonOf(report.videos.a),
                      R"(,"videoB":)", JsonOf(report.videos.b), "}\n");
}

}  // namespace reel::client
