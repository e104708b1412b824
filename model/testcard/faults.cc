// SPDX-License-Identifier: Apache-2.0
#include "model/testcard/faults.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/utf8.h"

namespace reel::model {
namespace {

constexpr std::pair<std::string_view, FaultKind> kKinds[] = {
    {"hang", FaultKind::kHang}, {"exit", FaultKind::kExit},     {"nan", FaultKind::kNan},
    {"oom", FaultKind::kOom},   {"sticky", FaultKind::kSticky}, {"lost", FaultKind::kLost}};

FaultKind KindOf(std::string_view name) {
  for (const auto& [known, kind] : kKinds) {
    if (known == name) return kind;
  }
  return FaultKind::kNone;
}

}  // namespace

absl::Status FaultTable::Check(const std::vector<TestCardFault>& faults) {
  for (const TestCardFault& fault : faults) {
    if (KindOf(fault.kind) == FaultKind::kNone) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Unknown fault of the test card; known: hang, exit, nan, oom, sticky, lost: ",
          Quoted(fault.kind)));
    }
    if (fault.step < 0 || fault.times < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("A fault of the test card has a negative number; nearest: 0: step ",
                       fault.step, ", times ", fault.times));
    }
  }
  return absl::OkStatus();
}

FaultTable::FaultTable(const std::vector<TestCardFault>& faults) {
  for (const TestCardFault& fault : faults) rows_.push_back({KindOf(fault.kind), fault});
}

FaultKind FaultTable::Next(std::string_view prompt, int step) {
  for (Row& row : rows_) {
    const bool left = row.fault.times == 0 || row.happened < row.fault.times;
    if (!left || row.fault.step != step) continue;
    if (prompt.find(row.fault.prompt_contains) == std::string_view::npos) continue;
    ++row.happened;
    return row.kind;
  }
  return FaultKind::kNone;
}

}  // namespace reel::model
