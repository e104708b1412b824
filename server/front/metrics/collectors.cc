// SPDX-License-Identifier: Apache-2.0
#include "server/front/metrics/collectors.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "kernels/base/program/whole_file.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

using LabelList = std::vector<std::pair<const char*, std::string>>;

template <typename T>
void Add(MetricFamily& family, const LabelList& labels, T value) {
  prometheus::ClientMetric metric;
  for (const auto& [name, text] : labels) metric.label.push_back({name, text});
  if (family.type == MetricType::Counter) {
    metric.counter.value = static_cast<double>(value);
  } else {
    metric.gauge.value = static_cast<double>(value);
  }
  family.metric.push_back(std::move(metric));
}

class Families {
 public:
  MetricFamily& Gauge(const char* name, const char* help) {
    return all_.emplace_back(MetricFamily{name, help, MetricType::Gauge, {}});
  }
  MetricFamily& Counter(const char* name, const char* help) {
    return all_.emplace_back(MetricFamily{name, help, MetricType::Counter, {}});
  }
  // One series without labels.
  template <typename T>
  void Gauge(const char* name, const char* help, T value) {
    Add(Gauge(name, help), {}, value);
  }
  template <typename T>
  void Counter(const char* name, const char* help, T value) {
    Add(Counter(name, help), {}, value);
  }
  std::vector<MetricFamily> Take() const { return {all_.begin(), all_.end()}; }

 private:
  std::deque<MetricFamily> all_;  // one that is added moves none
};

// Fields of /proc/self/stat after the name, which may hold spaces; proc(5) counts from 1.
struct Stat {
  double user_ticks = 0, system_ticks = 0, threads = 0, start_ticks = 0;
  double virtual_bytes = 0, resident_pages = 0;
};

Stat ReadStat() {
  const std::string text = ReadWholeFile("/proc/self/stat").value_or("");
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
  Families families;
  families.Counter("process_cpu_seconds_total", "User and system time.",
                   (stat.user_ticks + stat.system_ticks) / ticks);
  families.Gauge("process_open_fds", "Open file descriptors.", OpenDescriptors());
  families.Gauge("process_max_fds", "Limit of open file descriptors.", descriptors.rlim_cur);
  families.Gauge("process_virtual_memory_bytes", "Virtual memory.", stat.virtual_bytes);
  families.Gauge("process_resident_memory_bytes", "Resident memory.",
                 stat.resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE)));
  families.Gauge("process_threads", "Threads.", stat.threads);
  families.Gauge("process_start_time_seconds", "Start, since the epoch.",
                 BootTime() + stat.start_ticks / ticks);
  return families.Take();
}

std::vector<MetricFamily> LogCollector::Collect() const {
  MetricFamily family{"reel_log_messages_total", "Log lines written.", MetricType::Counter, {}};
  constexpr std::pair<LogLevel, const char*> kLevels[] = {{LogLevel::kDebug, "debug"},
                                                          {LogLevel::kInfo, "info"},
                                                          {LogLevel::kWarning, "warning"},
                                                          {LogLevel::kError, "error"}};
  for (const auto& [level, name] : kLevels) {
    Add(family, {{"level", name}}, LoggedLines(level));
  }
  return {family};
}

namespace {

// Models come from the configurations of other servers, too.
constexpr size_t kMostModels = 32;
// All of log_fold's verdicts that are void.
constexpr const char* kVoids[] = {"unreadable",  "unknown_job",  "known_job", "ended",
                                  "wrong_epoch", "not_claimant", "not_held",  "wished_before",
                                  "not_ended",   "bound"};
constexpr std::pair<ReleaseReason, const char*> kReleases[] = {
    {ReleaseReason::kShutdown, "shutdown"}, {ReleaseReason::kRestart, "restart"},
    {ReleaseReason::kLease, "lease"},       {ReleaseReason::kDelivery, "delivery"},
    {ReleaseReason::kUnfit, "unfit"},       {ReleaseReason::kNoRoom, "no_room"}};
constexpr std::pair<Unfit, const char*> kUnfitReasons[] = {
    {Unfit::kDisk, "disk"}, {Unfit::kName, "name"}, {Unfit::kClock, "clock"}};

void AddNodes(const FleetStatus& status, Families& families) {
  using NodeState = FleetStatus::NodeState;
  constexpr std::pair<NodeState, const char*> kStates[] = {{NodeState::kServing, "serving"},
                                                           {NodeState::kDraining, "draining"},
                                                           {NodeState::kSilent, "silent"},
                                                           {NodeState::kLeft, "left"}};
  std::map<NodeState, int> counts;
  std::set<std::string_view> builds;
  for (const FleetStatus::Node& node : status.nodes) {
    ++counts[node.state];
    const bool lives = node.state == NodeState::kServing || node.state == NodeState::kDraining;
    if (lives) builds.insert(node.build);
  }
  MetricFamily& nodes = families.Gauge(
      "reel_fleet_nodes",
      "Servers of the fleet as this one hears them; silent: their videos may be taken over; left: "
      "silent after a drain.");
  for (const auto& [state, name] : kStates) Add(nodes, {{"state", name}}, counts[state]);
  families.Gauge("reel_fleet_builds",
                 "Different builds among the servers that are heard; more than 1 during an "
                 "update.",
                 builds.size());
}

void AddBacklog(const FleetStatus& status, Families& families) {
  const auto each = [&](MetricFamily& family, auto value_of) {
    size_t shown = 0;
    for (const auto& [model, backlog] : status.backlog) {
      if (shown++ < kMostModels) Add(family, {{"model", model}}, value_of(backlog));
    }
  };
  each(families.Gauge("reel_fleet_backlog_seconds",
                      "Predicted device time of the fleet's queued and claimed videos, by what the "
                      "latest of the model took; every server says the same."),
       [](const auto& backlog) { return backlog.seconds; });
  each(families.Gauge("reel_fleet_ready_devices", "Devices of serving nodes that have the model."),
       [](const auto& backlog) { return backlog.ready_devices; });
  MetricFamily& videos =
      families.Gauge("reel_fleet_videos", "Videos of the fleet that have not ended.");
  size_t shown = 0;
  for (const auto& [model, backlog] : status.backlog) {
    if (shown++ >= kMostModels) break;
    Add(videos, {{"model", model}, {"state", "queued"}}, backlog.queued);
    Add(videos, {{"model", model}, {"state", "claimed"}}, backlog.claimed);
  }
}

void AddLog(const FleetStatus::Log& log, Families& families) {
  families.Gauge("reel_fleet_log_connected", "1 while a broker is connected.", log.connected);
  families.Gauge("reel_fleet_log_answers",
                 "1 while the log has a leader that answers; without one nothing is admitted.",
                 log.answers);
  families.Gauge("reel_fleet_log_ready",
                 "1 once the log has been read to its end; 0 again while it is read anew.",
                 log.ready);
  families.Gauge("reel_fleet_log_position", "The last message of the log that was read.",
                 log.position);
  families.Gauge("reel_fleet_log_behind_messages",
                 "Messages that are known to be in the log and are not read.",
                 log.newest - log.position);
  families.Gauge("reel_fleet_log_behind_seconds", "How long the oldest of those has been known.",
                 absl::ToDoubleSeconds(log.behind));
  families.Counter("reel_fleet_log_holes_total",
                   "Messages that did not come by themselves and were fetched, by gap.", log.holes);
  families.Counter("reel_fleet_log_rebuilds_total",
                   "How often all of the log was read anew, since it was another one or had "
                   "lost its beginning.",
                   log.rebuilds);
  MetricFamily& brokers = families.Gauge(
      "reel_fleet_broker_info", "Versions of the brokers that answered at the start; always 1.");
  for (const std::string& version : log.versions) Add(brokers, {{"version", version}}, 1);
}

void AddMessages(const FleetStatus::Log& log, Families& families) {
  MetricFamily& voids = families.Counter(
      "reel_fleet_void_messages_total",
      "Messages of the log that do not count, by why; each server counts them for itself.");
  for (const char* reason : kVoids) {
    const auto found = log.voids.find(reason);
    Add(voids, {{"reason", reason}}, found == log.voids.end() ? 0 : found->second);
  }
  MetricFamily& publishes = families.Counter(
      "reel_fleet_publishes_total",
      "Messages that this server wrote: stored (won), another was there before (lost), given up "
      "without an answer (unknown), surely not stored (refused).");
  Add(publishes, {{"result", "won"}}, log.won);
  Add(publishes, {{"result", "lost"}}, log.lost);
  Add(publishes, {{"result", "unknown"}}, log.unknown);
  Add(publishes, {{"result", "refused"}}, log.refused);
  families.Gauge("reel_fleet_publishes_waiting", "Messages that wait to be written.", log.writing);
}

void AddClaims(const FleetStatus::Claims& claims, Families& families) {
  MetricFamily& tried =
      families.Counter("reel_fleet_claims_total",
                       "Videos that this server tried to claim: it got them, or another.");
  Add(tried, {{"result", "won"}}, claims.won);
  Add(tried, {{"result", "lost"}}, claims.lost);
  families.Counter("reel_fleet_takeovers_total",
                   "Videos that this server took over from a node that was silent.",
                   claims.takeovers);
  families.Counter("reel_fleet_superseded_total",
                   "Videos of this server that another took over from it.", claims.superseded);
  MetricFamily& released = families.Counter(
      "reel_fleet_releases_total",
      "Videos that this server gave back: it was drained (shutdown), an earlier process had them "
      "(restart), it was paused or cut off (lease), the result could not be stored (delivery), it "
      "could not render for now (unfit), its disk did not take the result (no_room).");
  for (const auto& [reason, name] : kReleases) {
    Add(released, {{"reason", name}}, claims.releases[static_cast<size_t>(reason)]);
  }
}

void AddFitness(const FleetStatus& status, Families& families) {
  MetricFamily& unfit = families.Gauge(
      "reel_fleet_unfit",
      "1 while this server claims nothing and is not ready: its disk takes no results (disk), "
      "another process acts under its name (name), its clock is off (clock).");
  for (const auto& [reason, name] : kUnfitReasons) {
    Add(unfit, {{"reason", name}}, status.unfit[static_cast<size_t>(reason)]);
  }
  if (!status.clock.skew) return;
  families.Gauge("reel_fleet_clock_skew_seconds",
                 "How far this server's clock is ahead of the brokers'; below zero: behind.",
                 absl::ToDoubleSeconds(*status.clock.skew));
}

void AddUploads(const FleetStatus::Uploads& uploads, Families& families) {
  if (!uploads.enabled) return;
  families.Gauge("reel_fleet_store_up", "1 while the fleet's object store takes what it is given.",
                 uploads.store_good);
  families.Gauge("reel_fleet_uploads_waiting", "Results that wait for the object store.",
                 uploads.waiting);
  families.Gauge("reel_fleet_uploads_waiting_bytes", "Size of those together.",
                 uploads.waiting_bytes);
  families.Gauge("reel_fleet_uploads_waiting_limit", "With so many nothing more is rendered here.",
                 uploads.limit);
  MetricFamily& ended = families.Counter(
      "reel_fleet_uploads_total",
      "Results by what became of them: stored, or given up since the video went to another server "
      "or the file is damaged.");
  Add(ended, {{"result", "stored"}}, uploads.stored);
  Add(ended, {{"result", "given_up"}}, uploads.given_up);
  families.Counter("reel_fleet_upload_failures_total", "Tries to store a result that failed.",
                   uploads.failed_tries);
}

}  // namespace

void FleetCollector::Watch(Look look) {
  const MutexLock lock(mutex_);
  look_ = std::move(look);
}

std::vector<MetricFamily> FleetCollector::Collect() const {
  Look look;
  {
    const MutexLock lock(mutex_);
    look = look_;
  }
  const std::optional<FleetStatus> status = look == nullptr ? std::nullopt : look();
  if (!status) return {};
  Families families;
  AddNodes(*status, families);
  AddBacklog(*status, families);
  AddLog(status->log, families);
  AddMessages(status->log, families);
  AddClaims(status->claims, families);
  AddFitness(*status, families);
  AddUploads(status->uploads, families);
  return families.Take();
}

}  // namespace reel::front
