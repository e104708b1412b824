// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/device_name.h"

#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
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
      absl::StrCat("a device is cpu, cuda:N, or a group like cuda:0+cuda:1, not '", device, "'"));
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

}  // namespace reel::kernels
