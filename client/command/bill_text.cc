// SPDX-License-Identifier: Apache-2.0
#include "client/command/bill_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/command/quantity.h"
#include "client/command/text_table.h"

namespace reel::client {
namespace {

constexpr int kBarWidth = 24;
constexpr size_t kMostOperators = 16;

// A row's share of the total.
struct Share {
  absl::Duration time, total;
  double ratio() const {
    return total > absl::ZeroDuration() ? absl::FDivDuration(time, total) : 0;
  }
  std::string percent() const { return absl::StrFormat("%5.1f %%", ratio() * 100); }
  std::string bar() const { return Bar(ratio(), kBarWidth); }
};

std::string PartTable(const v1::RunStats& stats) {
  TextTable table({"part", "time", "share", ""});
  const absl::Duration total = FromProto(stats.total());
  for (const v1::PartTime& part : stats.parts()) {
    const Share share = {FromProto(part.time()), total};
    table.AddRow({PartName(part.part()), HumanDuration(share.time), share.percent(), share.bar()});
  }
  table.AddRow({"total", HumanDuration(total), "", ""});
  return table.Render();
}

std::string OperatorTable(const v1::RunStats& stats) {
  std::vector<const v1::OperatorCost*> costs;
  for (const v1::OperatorCost& cost : stats.operators()) costs.push_back(&cost);
  const auto estimate = [](const v1::OperatorCost* cost) { return FromProto(cost->estimate()); };
  std::stable_sort(costs.begin(), costs.end(),
                   [&](const auto* a, const auto* b) { return estimate(a) > estimate(b); });
  absl::Duration rest;
  while (costs.size() > kMostOperators) {
    rest += estimate(costs.back());
    costs.pop_back();
  }
  const absl::Duration total = FromProto(stats.total());
  TextTable table({"operator", "variant", "in", "time", "share", ""});
  const auto add = [&](const std::string& op, const std::string& variant, const std::string& part,
                       absl::Duration time) {
    const Share share = {time, total};
    table.AddRow({op, variant, part, HumanDuration(time), share.percent(), share.bar()});
  };
  for (const v1::OperatorCost* cost : costs) {
    add(cost->op(), cost->variant(), PartName(cost->part()), estimate(cost));
  }
  if (rest > absl::ZeroDuration()) add("others", "", "", rest);
  return table.Render();
}

std::string Facts(const v1::RunStats& stats) {
  std::vector<std::string> facts = {absl::StrFormat("%.3g device seconds", stats.device_seconds())};
  if (stats.has_energy_joules()) {
    facts.push_back(absl::StrFormat("%.3g J", stats.energy_joules()));
  }
  if (stats.mean_batch() > 0) {
    facts.push_back(absl::StrFormat("%.3g videos a step", stats.mean_batch()));
  }
  if (stats.peak_memory_bytes() > 0) {
    facts.push_back(absl::StrCat("at most ", HumanBytes(stats.peak_memory_bytes()), " of memory"));
  }
  if (stats.preemptions() > 0) facts.push_back(absl::StrCat("parked ", stats.preemptions(), "x"));
  if (stats.restarts() > 0) facts.push_back(absl::StrCat("restarted ", stats.restarts(), "x"));
  std::string text;
  for (const std::string& fact : facts) absl::StrAppend(&text, text.empty() ? "" : ", ", fact);
  return text + "\n";
}

}  // namespace

std::string PartName(v1::RunPart part) {
  constexpr std::string_view kPrefix = "RUN_PART_";
  const std::string name = v1::RunPart_Name(part);
  if (name.rfind(kPrefix, 0) != 0 || part == v1::RUN_PART_UNSPECIFIED) return "other";
  return absl::AsciiStrToLower(name.substr(kPrefix.size()));
}

std::string DescribeBill(const v1::RunStats& stats) {
  if (stats.parts().empty()) return "";
  std::string text = PartTable(stats) + Facts(stats);
  if (stats.operators().empty()) return text;
  absl::StrAppend(&text, "\n", OperatorTable(stats));
  absl::StrAppend(&text, "Estimated from what was timed: ", stats.timed_steps(),
                  stats.timed_steps() == 1 ? " step" : " steps",
                  "; gaps are the time between operators\n");
  return text;
}

}  // namespace reel::client
