// SPDX-License-Identifier: Apache-2.0
// Turns the answers of a load into figures. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/bench/load_run.h"

namespace reel::client {

struct Percentiles {
  absl::Duration p50, p90, p95, p99, max;
};
// Percentiles by nearest rank; all zero without values.
Percentiles PercentilesOf(std::vector<absl::Duration> values);

struct LoadFigures {
  size_t sent = 0, ok = 0, not_sent = 0;
  size_t within_slo = 0;                 // of the successful ones
  std::map<std::string, size_t> errors;  // by the server's reason, else the code
  Percentiles took;                      // of the successful ones, from when they were due
  Percentiles first_event;               // likewise
  Percentiles refused;                   // of the others, until their answer
};

struct LoadReport {
  LoadFigures all;
  std::vector<LoadFigures> by_spec;  // if there are several
  absl::Duration span;               // from the first due time to the last answer
};

LoadReport ReportOf(const std::vector<LoadAnswer>& answers, size_t specs, absl::Duration slo,
                    absl::Duration span);

// `labels`: the names of the specs.
std::string RenderReport(const LoadReport& report, const std::vector<std::string>& labels,
                         absl::Duration slo);
std::string ReportJson(const LoadReport& report, const std::vector<std::string>& labels,
                       const LoadPlan& plan, absl::Duration slo);

}  // namespace reel::client
