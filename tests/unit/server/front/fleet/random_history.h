// SPDX-License-Identifier: Apache-2.0
// Random histories of a log, for the tests of the fold and of the view.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/front/fleet/log_fold.h"

namespace reel::front {

using Random = std::mt19937;
using History = std::vector<FoldEntry>;

inline size_t Below(Random& random, size_t n) { return random() % n; }

// Few videos, epochs and nodes, so that messages meet; more than half of them are void.
inline FoldEntry RandomEntry(Random& random, uint64_t sequence) {
  FoldEntry entry;
  entry.sequence = sequence;
  entry.subject = {Below(random, 8) == 0 ? "u" : "t", absl::StrCat("v", Below(random, 12)),
                   LogKind::kRequest, 0};
  const std::string node = absl::StrCat("n", Below(random, 3));
  const auto epoch = static_cast<uint32_t>(1 + Below(random, 5));
  switch (Below(random, 20)) {
    case 0:
      break;  // unreadable
    case 16:
    case 17:
    case 18:
      entry.subject = {entry.subject.tenant, absl::StrCat("r", Below(random, 3)), LogKind::kBinding,
                       static_cast<uint32_t>(1 + Below(random, 4))};
      entry.said = BindingSaid{absl::StrCat("v", Below(random, 12)), "hash"};
      break;
    case 19:
      entry.subject.kind = LogKind::kDelete;
      entry.said = DeleteSaid{};
      break;
    case 1:
    case 2:
    case 3:
      entry.said = RequestSaid{};
      for (size_t others = Below(random, 4); others > 1; --others) {
        const std::string id = absl::StrCat("v", Below(random, 12));
        std::get<RequestSaid>(entry.said).others.push_back({id, absl::StrCat("of-", id)});
      }
      break;
    case 4:
      entry.subject.kind = LogKind::kCancel;
      entry.said =
          CancelSaid{Below(random, 2) == 0 ? CancelKind::kCancelled : CancelKind::kExpired};
      break;
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
      entry.subject.kind = LogKind::kFinish;
      entry.subject.epoch = epoch;
      entry.said =
          FinishSaid{node, Below(random, 2) == 0 ? FinishKind::kReleased
                                                 : static_cast<FinishKind>(Below(random, 3))};
      break;
    default:
      entry.subject.kind = LogKind::kClaim;
      entry.subject.epoch = epoch;
      entry.said = ClaimSaid{node};
  }
  return entry;
}

inline History RandomHistory(Random& random) {
  History history;
  uint64_t sequence = 0;
  const size_t length = 1 + Below(random, 300);
  while (history.size() < length) {
    sequence += Below(random, 10) == 0 ? 1 + Below(random, 5) : 1;  // purged ones
    history.push_back(RandomEntry(random, sequence));
  }
  return history;
}

}  // namespace reel::front
