// SPDX-License-Identifier: Apache-2.0
#include "model/host_memory.h"

#include <algorithm>
#include <fstream>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace reel::model {
namespace {

std::optional<int64_t> NumberIn(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  int64_t number = 0;
  // "max" is no limit.
  return file >> text && absl::SimpleAtoi(text, &number) ? std::optional(number) : std::nullopt;
}

// The number behind a name, as in "MemAvailable: 4096 kB" or "inactive_file 4096".
std::optional<int64_t> FieldIn(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    int64_t number = 0;
    if (word == name && file >> number) return number;
  }
  return std::nullopt;
}

// How the two versions of control groups name what they tell.
struct Names {
  std::string_view folder, limit, used;
};
constexpr Names kSecond = {"/sys/fs/cgroup", "memory.max", "memory.current"};
constexpr Names kFirst = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                          "memory.usage_in_bytes"};

// Nullopt: the group has no limit, or is not seen from here.
std::optional<int64_t> LeftIn(const std::string& group, const Names& names) {
  const auto limit = NumberIn(absl::StrCat(group, "/", std::string(names.limit)));
  const auto used = NumberIn(absl::StrCat(group, "/", std::string(names.used)));
  if (!limit || !used) return std::nullopt;
  const std::string details = group + "/memory.stat";
  const int64_t cache =
      FieldIn(details, "inactive_file").value_or(0) + FieldIn(details, "active_file").value_or(0);
  return std::max<int64_t>(*limit - *used + std::min(cache, *used), 0);
}

// The least that the limits of the group at `path` and of those around it leave.
std::optional<int64_t> LeastLeft(const std::string& root, std::string path, const Names& names) {
  const std::string folder = absl::StrCat(root, std::string(names.folder));
  std::optional<int64_t> least = LeftIn(folder, names);
  while (path.size() > 1 && path.front() == '/') {
    const auto left = LeftIn(folder + path, names);
    if (left) least = std::min(least.value_or(*left), *left);
    path.resize(path.rfind('/'));
  }
  return least;
}

std::optional<int64_t> LeftOfContainer(const std::string& root) {
  std::optional<int64_t> least;
  std::ifstream groups(root + "/proc/self/cgroup");  // "0::/path", or "4:memory:/path"
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && controllers != "memory") continue;
    const auto left =
        LeastLeft(root, line.substr(second + 1), controllers.empty() ? kSecond : kFirst);
    if (left) least = std::min(least.value_or(*left), *left);
  }
  return least;
}

}  // namespace

std::optional<HostMemory> ReadHostMemory(const std::string& root) {
  constexpr int64_t kUnit = 1024;
  const auto free = FieldIn(root + "/proc/meminfo", "MemAvailable:");
  const auto left = LeftOfContainer(root);
  if (!free) return left ? std::optional<HostMemory>({*left, true}) : std::nullopt;
  const int64_t of_machine = *free * kUnit;
  if (left && *left < of_machine) return HostMemory{*left, true};
  return HostMemory{of_machine, false};
}

absl::Status CheckHostMemory(const FitPlan& plan, const std::optional<HostMemory>& memory) {
  if (!memory || plan.host_bytes() <= memory->available) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "the host's memory is too small: weights that the device has no room for take %s there, and "
      "%.1f GB %s",
      HostSumOf(plan), static_cast<double>(memory->available) / 1e9,
      memory->of_container ? "are left of the container's limit" : "of the machine are free"));
}

}  // namespace reel::model
