// SPDX-License-Identifier: Apache-2.0
#include "client/command/load_report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/command/json_output.h"
#include "client/command/quantity.h"
#include "client/command/text_table.h"
#include "client/error_details.h"

namespace reel::client {
namespace {

std::string ErrorOf(const absl::Status& status) {
  const std::string reason = DetailsOf(status).reason;
  return reason.empty() ? absl::StatusCodeToString(status.code()) : reason;
}

// Counts all answers, or those of one spec.
LoadFigures FiguresOf(const std::vector<LoadAnswer>& answers, const size_t* spec,
                      absl::Duration slo) {
  LoadFigures figures;
  std::vector<absl::Duration> took, first, refused;
  for (const LoadAnswer& answer : answers) {
    if (spec != nullptr && answer.spec != *spec) continue;
    if (!answer.sent) {
      ++figures.not_sent;
      continue;
    }
    ++figures.sent;
    if (!answer.status.ok()) {
      ++figures.errors[ErrorOf(answer.status)];
      refused.push_back(answer.took);
      continue;
    }
    ++figures.ok;
    if (answer.took <= slo) ++figures.within_slo;
    took.push_back(answer.took);
    if (answer.first_event) first.push_back(*answer.first_event);
  }
  figures.took = PercentilesOf(std::move(took));
  figures.first_event = PercentilesOf(std::move(first));
  figures.refused = PercentilesOf(std::move(refused));
  return figures;
}

double PerSecond(size_t count, absl::Duration span) {
  return span > absl::ZeroDuration() ? static_cast<double>(count) / absl::ToDoubleSeconds(span) : 0;
}

void AddRow(const std::string& label, const LoadFigures& figures, const LoadReport& report,
            absl::Duration slo, TextTable& table) {
  const size_t asked = figures.sent + figures.not_sent;
  const std::string within =
      slo == absl::InfiniteDuration() || asked == 0
          ? "-"
          : absl::StrFormat("%.1f%%", 100.0 * static_cast<double>(figures.within_slo) /
                                          static_cast<double>(asked));
  table.AddRow({label, absl::StrCat(asked), absl::StrCat(figures.ok),
                absl::StrFormat("%.2f/s", PerSecond(figures.ok, report.span)), within,
                HumanDuration(figures.first_event.p99), HumanDuration(figures.took.p50),
                HumanDuration(figures.took.p90), HumanDuration(figures.took.p95),
                HumanDuration(figures.took.p99), HumanDuration(figures.took.max)});
}

std::string FiguresJson(const Percentiles& values) {
  return absl::StrFormat(R"({"p50":%.6f,"p90":%.6f,"p95":%.6f,"p99":%.6f,"max":%.6f})",
                         absl::ToDoubleSeconds(values.p50), absl::ToDoubleSeconds(values.p90),
                         absl::ToDoubleSeconds(values.p95), absl::ToDoubleSeconds(values.p99),
                         absl::ToDoubleSeconds(values.max));
}

std::string FiguresJson(const LoadFigures& figures) {
  const auto errors = absl::StrJoin(figures.errors, ",", [](std::string* out, const auto& error) {
    absl::StrAppend(out, JsonString(error.first), ":", error.second);
  });
  return absl::StrCat(R"("sent":)", figures.sent, R"(,"ok":)", figures.ok, R"(,"not_sent":)",
                      figures.not_sent, R"(,"within_slo":)", figures.within_slo, R"(,"errors":{)",
                      errors, R"(},"seconds":)", FiguresJson(figures.took),
                      R"(,"first_event_seconds":)", FiguresJson(figures.first_event),
                      R"(,"refused_seconds":)", FiguresJson(figures.refused));
}

}  // namespace

Percentiles PercentilesOf(std::vector<absl::Duration> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&values](double share) {
    const double rank = std::ceil(share * static_cast<double>(values.size()));
    return values[static_cast<size_t>(std::max(rank, 1.0)) - 1];
  };
  return {at(0.5), at(0.9), at(0.95), at(0.99), values.back()};
}

LoadReport ReportOf(const std::vector<LoadAnswer>& answers, size_t specs, absl::Duration slo,
                    absl::Duration span) {
  LoadReport report;
  report.span = span;
  report.all = FiguresOf(answers, nullptr, slo);
  for (size_t spec = 0; specs > 1 && spec < specs; ++spec) {
    report.by_spec.push_back(FiguresOf(answers, &spec, slo));
  }
  return report;
}

std::string RenderReport(const LoadReport& report, const std::vector<std::string>& labels,
                         absl::Duration slo) {
  TextTable table({"SPEC", "ASKED", "DONE", "RATE", "IN TIME", "FIRST EVENT P99", "P50", "P90",
                   "P95", "P99", "MAX"});
  for (size_t i = 0; i < report.by_spec.size(); ++i) {
    AddRow(labels[i], report.by_spec[i], report, slo, table);
  }
  AddRow("all", report.all, report, slo, table);
  std::string text = table.Render();
  for (const auto& [reason, count] : report.all.errors) {
    absl::StrAppend(&text, count, " ended with ", reason, "\n");
  }
  if (!report.all.errors.empty()) {
    absl::StrAppend(&text, "those were answered within ", HumanDuration(report.all.refused.p50),
                    " (median), ", HumanDuration(report.all.refused.p99), " (p99)\n");
  }
  if (report.all.not_sent > 0) {
    absl::StrAppend(&text, report.all.not_sent,
                    " were not sent: too many were under way (--most-under-way)\n");
  }
  return text;
}

std::string ReportJson(const LoadReport& report, const std::vector<std::string>& labels,
                       const LoadPlan& plan, absl::Duration slo) {
  std::string specs;
  for (size_t i = 0; i < report.by_spec.size(); ++i) {
    absl::StrAppend(&specs, i == 0 ? "" : ",", R"({"spec":)", JsonString(labels[i]), ",",
                    FiguresJson(report.by_spec[i]), "}");
  }
  const std::string slo_json = slo == absl::InfiniteDuration()
                                   ? "null"
                                   : absl::StrFormat("%.6f", absl::ToDoubleSeconds(slo));
  return absl::StrCat(
      absl::StrFormat(
          R"({"rate":%.6f,"arrivals":"%s","seed":%u,"slo_seconds":%s,"span_seconds":%.6f,)",
          plan.rate, plan.poisson ? "poisson" : "even", plan.seed, slo_json,
          absl::ToDoubleSeconds(report.span)),
      FiguresJson(report.all), R"(,"specs":[)", specs, "]}\n");
}

}  // namespace reel::client
