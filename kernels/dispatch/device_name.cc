// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/device_name.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "kernels/base/status_macros.h"

namespace reel::kernels {
namespace {

constexpr int kMostDevice = 9999;

absl::StatusOr<int> RankOf(absl::string_view member, absl::string_view device) {
  if (member == "cpu") return kCpuRank;
  absl::string_view digits = member;
  int index = -1;
  const bool is_cuda = absl::ConsumePrefix(&digits, "cuda:");
  const bool is_plain = std::all_of(digits.begin(), digits.end(),
                                    [](char digit) { return digit >= '0' && digit <= '9'; });
  if (is_cuda && is_plain && absl::SimpleAtoi(digits, &index) && index <= kMostDevice) return index;
  return absl::InvalidArgumentError(
      absl::StrCat("a device is cpu, cuda:N, a UUID like GPU-8932f937-..., or a group like "
                   "cuda:0+cuda:1, not '",
                   device, "'"));
}

bool IsSlice(absl::string_view member) { return absl::StartsWith(member, "MIG-"); }

absl::Status NamedTwice(absl::string_view device) {
  return absl::InvalidArgumentError(absl::StrCat("a group names each device once: '", device, "'"));
}

absl::Status CheckSize(size_t members, absl::string_view device) {
  if (members <= kMostRanks) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a group has ", kMostRanks, " devices at most: '", device, "'"));
}

}  // namespace

// It becomes part of a process's environment, so nothing else is allowed.
bool IsGpuUuid(absl::string_view member) {
  constexpr size_t kLeast = 8, kMost = 80;
  absl::string_view digits = member;
  if (!absl::ConsumePrefix(&digits, "GPU-") && !absl::ConsumePrefix(&digits, "MIG-")) return false;
  return digits.size() >= kLeast && digits.size() <= kMost &&
         std::all_of(digits.begin(), digits.end(),
                     [](char c) { return absl::ascii_isxdigit(c) || c == '-'; });
}

absl::StatusOr<std::vector<int>> RanksOf(absl::string_view device) {
  const std::vector<std::string> members = absl::StrSplit(device, '+');
  std::vector<int> ranks;
  for (const std::string& member : members) {
    REEL_ASSIGN_OR_RETURN(const int rank, RankOf(member, device));
    if (!ranks.empty() && (rank == kCpuRank) != (ranks[0] == kCpuRank)) {
      return absl::InvalidArgumentError(
          absl::StrCat("a group is of one kind of device, not of CPUs and GPUs: '", device, "'"));
    }
    if (rank != kCpuRank && std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) {
      return NamedTwice(device);
    }
    ranks.push_back(rank);
  }
  REEL_RETURN_IF_ERROR(CheckSize(ranks.size(), device));
  return ranks;
}

absl::StatusOr<OwnDevices> OwnDevicesOf(absl::string_view device) {
  const std::vector<std::string> members = absl::StrSplit(device, '+');
  if (std::none_of(members.begin(), members.end(), IsGpuUuid)) {
    REEL_ASSIGN_OR_RETURN(std::vector<int> ranks, RanksOf(device));
    return OwnDevices{std::move(ranks), ""};
  }
  if (!std::all_of(members.begin(), members.end(), IsGpuUuid)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a group names its GPUs by numbers or by UUIDs, not by both: '", device, "'"));
  }
  if (members.size() > 1 && std::any_of(members.begin(), members.end(), IsSlice)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a slice of a GPU cannot be in a group: '", device, "'"));
  }
  if (std::set(members.begin(), members.end()).size() < members.size()) return NamedTwice(device);
  REEL_RETURN_IF_ERROR(CheckSize(members.size(), device));
  std::vector<int> ranks(members.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  return OwnDevices{std::move(ranks), absl::StrJoin(members, ",")};
}

}  // namespace reel::kernels
