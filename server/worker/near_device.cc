// SPDX-License-Identifier: Apache-2.0
#include "server/worker/near_device.h"

#include <sched.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace reel::worker {
namespace {

std::string LineOf(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

// -1: unknown.
int NodeOf(const std::string& bus_id, const std::filesystem::path& system) {
  int node = -1;
  const auto file = system / "bus/pci/devices" / absl::AsciiStrToLower(bus_id) / "numa_node";
  return absl::SimpleAtoi(LineOf(file), &node) ? node : -1;
}

}  // namespace

std::set<int> CpusOf(absl::string_view list) {
  std::set<int> cpus;
  for (const absl::string_view part : absl::StrSplit(absl::StripAsciiWhitespace(list), ',')) {
    const std::vector<absl::string_view> ends = absl::StrSplit(part, '-');
    int first = 0, last = 0;
    const bool is_range = ends.size() <= 2 && absl::SimpleAtoi(ends.front(), &first) &&
                          absl::SimpleAtoi(ends.back(), &last);
    if (!is_range || last < first || last >= CPU_SETSIZE) return {};
    for (int cpu = first; cpu <= last; ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

std::set<int> CpusNear(const std::vector<std::string>& bus_ids, const std::string& system) {
  const std::filesystem::path nodes = std::filesystem::path(system) / "devices/system/node";
  if (CpusOf(LineOf(nodes / "online")).size() < 2) return {};  // nodes, listed as cores are
  std::set<int> cpus;
  for (const std::string& id : bus_ids) {
    const int node = NodeOf(id, system);
    if (node < 0) return {};
    cpus.merge(CpusOf(LineOf(nodes / absl::StrCat("node", node) / "cpulist")));
  }
  return cpus;
}

int StayOn(const std::set<int>& cpus) {
  cpu_set_t allowed, wanted;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
  CPU_ZERO(&wanted);
  for (const int cpu : cpus) {
    if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &wanted);
  }
  const int count = CPU_COUNT(&wanted);
  if (count == 0 || CPU_EQUAL(&wanted, &allowed)) return 0;
  return sched_setaffinity(0, sizeof wanted, &wanted) == 0 ? count : 0;
}

}  // namespace reel::worker
