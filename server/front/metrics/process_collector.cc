// SPDX-License-Identifier: Apache-2.0
#include "server/front/metrics/process_collector.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "server/logging/log.h"

namespace reel::front {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily Single(const char* name, const char* help, MetricType type, double value) {
  MetricFamily family{name, help, type, {}};
  prometheus::ClientMetric metric;
  if (type == MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  family.metric.push_back(metric);
  return family;
}

// Fields of /proc/self/stat after the name, which may hold spaces; proc(5) counts from 1.
struct Stat {
  double user_ticks = 0, system_ticks = 0, threads = 0, start_ticks = 0;
  double virtual_bytes = 0, resident_pages = 0;
};

Stat ReadStat() {
  std::ifstream file("/proc/self/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  Stat stat;
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return stat;
  std::vector<std::string> fields;
  size_t at = name_end + 2;
  while (at < text.size()) {
    const size_t end = std::min(text.find(' ', at), text.size());
    fields.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  const auto field = [&](size_t number) {  // of proc(5): the state is number 3
    return number - 3 < fields.size() ? std::strtod(fields[number - 3].c_str(), nullptr) : 0.0;
  };
  stat.user_ticks = field(14);
  stat.system_ticks = field(15);
  stat.threads = field(20);
  stat.start_ticks = field(22);
  stat.virtual_bytes = field(23);
  stat.resident_pages = field(24);
  return stat;
}

double BootTime() {
  std::ifstream file("/proc/stat");
  std::string word;
  while (file >> word) {
    if (word != "btime") continue;
    double seconds = 0;
    file >> seconds;
    return seconds;
  }
  return 0;
}

double OpenDescriptors() {
  std::error_code error;
  double count = 0;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end;
       !error && entry != end; entry.increment(error)) {
    ++count;
  }
  return count > 0 ? count - 1 : 0;  // one of them reads the folder
}

}  // namespace

std::vector<MetricFamily> ProcessCollector::Collect() const {
  const Stat stat = ReadStat();
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  const auto gauge = MetricType::Gauge;
  return {
      Single("process_cpu_seconds_total", "User and system time.", MetricType::Counter,
             (stat.user_ticks + stat.system_ticks) / ticks),
      Single("process_open_fds", "Open file descriptors.", gauge, OpenDescriptors()),
      Single("process_max_fds", "Limit of open file descriptors.", gauge,
             static_cast<double>(descriptors.rlim_cur)),
      Single("process_virtual_memory_bytes", "Virtual memory.", gauge, stat.virtual_bytes),
      Single("process_resident_memory_bytes", "Resident memory.", gauge,
             stat.resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE))),
      Single("process_threads", "Threads.", gauge, stat.threads),
      Single("process_start_time_seconds", "Start, since the epoch.", gauge,
             BootTime() + stat.start_ticks / ticks),
  };
}

std::vector<MetricFamily> LogCollector::Collect() const {
  MetricFamily family{"reel_log_messages_total", "Log lines written.", MetricType::Counter, {}};
  constexpr std::pair<LogLevel, const char*> kLevels[] = {{LogLevel::kDebug, "debug"},
                                                          {LogLevel::kInfo, "info"},
                                                          {LogLevel::kWarning, "warning"},
                                                          {LogLevel::kError, "error"}};
  for (const auto& [level, name] : kLevels) {
    prometheus::ClientMetric metric;
    metric.label.push_back({"level", name});
    metric.counter.value = static_cast<double>(LoggedLines(level));
    family.metric.push_back(metric);
  }
  return {family};
}

}  // namespace reel::front
