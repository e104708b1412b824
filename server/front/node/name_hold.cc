// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/name_hold.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace reel::front {
namespace {

// Whoever holds a name answers the first beat of another process within two ticks.
constexpr absl::Duration kAnswer = absl::Milliseconds(300);

}  // namespace

void NameHold::Drop(absl::Duration now) {
  if (options_.alone) return;
  holds_ = false;
  // Nobody answers a process that is known: beats come when they are due.
  not_before_ = now + 2 * options_.beat;
}

void NameHold::Tick(absl::Duration now, const NodeTable& nodes, absl::Duration hears_since) {
  if (options_.alone) return;
  std::string why;
  for (const NodeTable::Namesake& other : nodes.Namesakes(options_.process)) {
    // Among equals the lower number wins, so that both sides judge alike.
    const bool wins = other.process < options_.process && other.holds_name == holds_;
    const bool is_first = (other.holds_name && !holds_) || wins;
    if (!is_first) continue;
    why = absl::StrCat("another process takes part in the fleet under this node's name, ",
                       options_.node, ", at ", other.address.empty() ? "-" : other.address);
  }
  stands_by_ = !why.empty();
  const bool is_answered = now - hears_since >= kAnswer && now >= not_before_;
  holds_ = !stands_by_ && (holds_ || is_answered);
  fitness_.Set(Unfit::kName, why);
}

}  // namespace reel::front
