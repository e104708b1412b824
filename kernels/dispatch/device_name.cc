// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/device_name.h"

#include <algorithm>
#include <set>
#include <string>

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

// It goes into the environment of a process, so nothing else may.
bool IsUuid(absl::string_view member) {
  constexpr size_t kLeast = 8, kMost = 80;
  absl::string_view digits = member;
  if (!absl::ConsumePrefix(&digits, "GPU-") && !absl::ConsumePrefix(&digits, "MIG-")) return false;
  return digits.size() >= kLeast && digits.size() <= kMost &&
         std::all_of(digits.begin(), digits.end(),
                     [](char c) { return absl::ascii_isxdigit(c) || c == '-'; });
}

}  // namespace

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
      return absl::InvalidArgumentError(
          absl::StrCat("a group names each device once: '", device, "'"));
    }
    ranks.push_back(rank);
  }
  if (ranks.size() > kMostRanks) {
    return absl::InvalidArgumentError(
        absl::StrCat("a group has ", kMostRanks, " devices at most: '", device, "'"));
  }
  return ranks;
}

absl::StatusOr<OwnDevices> OwnDevicesOf(absl::string_view device) {
  const std::vector<std::string> members = absl::StrSplit(device, '+');
  if (std::none_of(members.begin(), members.end(), IsUuid)) {
    REEL_RETURN_IF_ERROR(RanksOf(device).status());
    return OwnDevices{std::string(device), ""};
  }
  if (!std::all_of(members.begin(), members.end(), IsUuid)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a group names its GPUs by numbers or by UUIDs, not by both: '", device, "'"));
  }
  if (members.size() > 1 && std::any_of(members.begin(), members.end(), IsSlice)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a slice of a GPU cannot be in a group: '", device, "'"));
  }
  if (std::set(members.begin(), members.end()).size() < members.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a group names each device once: '", device, "'"));
  }
  std::vector<std::string> numbers;
  for (size_t i = 0; i < members.size(); ++i) numbers.push_back(absl::StrCat("cuda:", i));
  OwnDevices own = {absl::StrJoin(numbers, "+"), absl::StrJoin(members, ",")};
  REEL_RETURN_IF_ERROR(RanksOf(own.device).status());
  return own;
}

}  // namespace reel::kernels
