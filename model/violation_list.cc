// SPDX-License-Identifier: Apache-2.0
#include "model/violation_list.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace reel::model {
namespace {

// Enough digits that a value just outside does not read like the bound itself.
std::string Number(double value) { return absl::StrFormat("%.15g", value); }

int64_t FloorTo(int64_t value, const ViolationList::Grid& grid) {
  const int64_t above = value - grid.offset;
  int64_t steps = above / grid.multiple;
  if (above % grid.multiple < 0) --steps;
  return steps * grid.multiple + grid.offset;
}

}  // namespace

void ViolationList::Add(std::string field, std::string description, std::string reason) {
  violations_.push_back({std::move(field), std::move(description), std::move(reason)});
}

void ViolationList::Explain(size_t first, const std::string& reason) {
  for (size_t i = first; i < violations_.size(); ++i) {
    if (violations_[i].reason.empty()) violations_[i].reason = reason;
  }
}

bool ViolationList::InRange(std::string_view field, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return true;
  Add(std::string(field), absl::StrCat(value, " is not between ", low, " and ", high,
                                       "; nearest: ", value < low ? low : high));
  return false;
}

bool ViolationList::InRange(std::string_view field, double value, double low, double high) {
  if (value >= low && value <= high) return true;
  Add(std::string(field),
      absl::StrCat(std::isnan(value) ? "NaN" : Number(value), " is not between ", Number(low),
                   " and ", Number(high), "; nearest: ", Number(value > high ? high : low)));
  return false;
}

bool ViolationList::OnGrid(std::string_view field, int64_t value, const Grid& grid) {
  const int64_t smallest = FloorTo(grid.low + grid.multiple - 1, grid);
  const int64_t largest = FloorTo(grid.high, grid);
  if (value < smallest || value > largest) return InRange(field, value, smallest, largest);
  const int64_t below = FloorTo(value, grid);
  if (value == below) return true;
  const int64_t above = below + grid.multiple;
  // Both lie inside: value is between two points of the grid that do.
  const bool up = above - value <= value - below;
  Add(std::string(field),
      absl::StrCat(value, " is not a multiple of ", grid.multiple,
                   grid.offset == 0 ? "" : absl::StrCat(" plus ", grid.offset),
                   "; nearest: ", up ? above : below, " (or ", up ? below : above, ")"));
  return false;
}

}  // namespace reel::model
