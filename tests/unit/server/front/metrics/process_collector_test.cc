// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <string>

#include "server/front/metrics/collectors.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

std::map<std::string, double> Gauges() {
  std::map<std::string, double> values;
  for (const auto& family : ProcessCollector().Collect()) {
    values[family.name] = family.metric[0].gauge.value + family.metric[0].counter.value;
  }
  return values;
}

TEST(ProcessCollector, TellsPlausibleValues) {
  const auto values = Gauges();
  EXPECT_GE(values.at("process_open_fds"), 3);
  EXPECT_GE(values.at("process_max_fds"), values.at("process_open_fds"));
  EXPECT_GT(values.at("process_resident_memory_bytes"), 1e6);
  EXPECT_GE(values.at("process_virtual_memory_bytes"), values.at("process_resident_memory_bytes"));
  EXPECT_GE(values.at("process_threads"), 1);
  EXPECT_GE(values.at("process_cpu_seconds_total"), 0);
  const double now = static_cast<double>(std::time(nullptr));
  EXPECT_LE(values.at("process_start_time_seconds"), now + 2);
  EXPECT_GT(values.at("process_start_time_seconds"), now - 3600);
}

TEST(LogCollector, CountsLinesByLevel) {
  const auto warnings = [] {
    const auto families = LogCollector().Collect();
    for (const auto& metric : families[0].metric) {
      if (metric.label[0].value == "warning") return metric.counter.value;
    }
    return -1.0;
  };
  const double before = warnings();
  Log(LogLevel::kWarning, "counted");
  EXPECT_EQ(warnings(), before + 1);
}

}  // namespace
}  // namespace reel::front
