// SPDX-License-Identifier: Apache-2.0
// Entries of a history as messages that nodes write, and what a log makes of them.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/front/fleet/log_messages.h"
#include "server/front/fleet/log_port.h"
#include "server/front/fleet/subjects.h"
#include "tests/fakes/memory_records.h"
#include "tests/unit/server/front/fleet/random_history.h"

namespace reel::front {

struct PayloadOf {
  std::string operator()(const UnreadableSaid&) const { return "\x08"; }
  std::string operator()(const RequestSaid& said) const { return WriteRequest(said); }
  std::string operator()(const ClaimSaid& said) const { return WriteClaim(said); }
  std::string operator()(const FinishSaid& said) const { return WriteFinish(said, "REASON"); }
  std::string operator()(const CancelSaid& said) const { return WriteWish(said); }
  std::string operator()(const DeleteSaid&) const { return WriteDeletion(); }
  std::string operator()(const BindingSaid& said) const { return WriteBinding(said); }
};

inline LogWrite WriteOf(const FoldEntry& entry, const std::string& message_id) {
  return {MakeSubject(entry.subject).value(), std::visit(PayloadOf(), entry.said), message_id};
}

// A log as it should be: each subject once, in one order.
struct ExpectedLog {
  WriteResult Write(const LogWrite& write) {
    const auto [known, is_new] = by_subject.try_emplace(write.subject, messages.size());
    if (is_new) {
      messages.push_back({messages.size() + 1, write.subject, write.message_id, write.payload});
    }
    const StoredMessage& stored = messages[known->second];
    if (stored.message_id != write.message_id) return {WriteResult::Outcome::kLost, 0};
    return {WriteResult::Outcome::kWon, stored.sequence};
  }
  FleetState StateAt(uint64_t position) const {
    FleetState state;
    for (size_t i = 0; i < position; ++i) reel::testing::Fold(state, ReadEntry(messages[i]));
    return state;
  }
  FleetState state() const { return StateAt(messages.size()); }

  std::map<std::string, size_t> by_subject;
  std::vector<StoredMessage> messages;
};

}  // namespace reel::front
