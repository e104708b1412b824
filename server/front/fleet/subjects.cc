// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/subjects.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace reel::front {
namespace {

constexpr char kJobs[] = "j.";
constexpr char kBeats[] = "hb.";
constexpr size_t kJobsSize = sizeof kJobs - 1;
constexpr size_t kBeatsSize = sizeof kBeats - 1;
constexpr size_t kMostName = 64;
constexpr uint32_t kMostEpoch = 999'999'999;

bool IsNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

// Tenants' names may have dots, which separate tokens here. The character that replaces them occurs
// in no name.
bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= kMostName &&
         std::all_of(name.begin(), name.end(), IsNameChar);
}
std::string TokenOf(std::string name) {
  std::replace(name.begin(), name.end(), '.', '~');
  return name;
}

bool ReadToken(std::string_view token, std::string& name) {
  if (token.find('.') != std::string_view::npos) return false;
  name = std::string(token);
  std::replace(name.begin(), name.end(), '~', '.');
  return IsName(name);
}

bool HasEpoch(LogKind kind) {
  return kind == LogKind::kClaim || kind == LogKind::kFinish || kind == LogKind::kBinding;
}

const char* LetterOf(LogKind kind) {
  switch (kind) {
    case LogKind::kRequest:
      return "q";
    case LogKind::kClaim:
      return "c";
    case LogKind::kFinish:
      return "f";
    case LogKind::kCancel:
      return "x";
    case LogKind::kBinding:
      return "r";
    case LogKind::kDelete:
      return "d";
  }
  return "";
}

bool ReadKind(std::string_view letter, LogKind& kind) {
  for (const LogKind one : {LogKind::kRequest, LogKind::kClaim, LogKind::kFinish, LogKind::kCancel,
                            LogKind::kBinding, LogKind::kDelete}) {
    if (letter != LetterOf(one)) continue;
    kind = one;
    return true;
  }
  return false;
}

bool IsLegal(const LogSubject& subject) {
  if (!IsName(subject.tenant) || !IsName(subject.id)) return false;
  return HasEpoch(subject.kind) ? subject.epoch >= 1 && subject.epoch <= kMostEpoch
                                : subject.epoch == 0;
}

}  // namespace

absl::StatusOr<std::string> MakeSubject(const LogSubject& subject) {
  if (!IsLegal(subject)) {
    return absl::InvalidArgumentError("no subject can be made of this tenant, id and epoch");
  }
  std::string text = absl::StrCat(kJobs, TokenOf(subject.tenant), ".", TokenOf(subject.id), ".",
                                  LetterOf(subject.kind));
  if (HasEpoch(subject.kind)) absl::StrAppend(&text, ".", subject.epoch);
  return text;
}

absl::StatusOr<LogSubject> ParseSubject(std::string_view text) {
  const absl::Status refused = absl::InvalidArgumentError("the subject is not one of the log's");
  if (text.substr(0, kJobsSize) != kJobs || text.size() > 3 * kMostName) return refused;
  const std::vector<std::string> tokens = absl::StrSplit(std::string(text.substr(kJobsSize)), '.');
  LogSubject subject;
  if (tokens.size() < 3 || !ReadToken(tokens[0], subject.tenant) ||
      !ReadToken(tokens[1], subject.id) || !ReadKind(tokens[2], subject.kind)) {
    return refused;
  }
  if (tokens.size() != (HasEpoch(subject.kind) ? 4U : 3U)) return refused;
  if (tokens.size() == 4 && !absl::SimpleAtoi(tokens[3], &subject.epoch)) return refused;
  // Rejects leading zeros, signs, spaces and too large epochs: the text must equal what MakeSubject
  // returns.
  const absl::StatusOr<std::string> again = MakeSubject(subject);
  if (!again.ok() || *again != text) return refused;
  return subject;
}

absl::StatusOr<std::string> MakeBeatSubject(std::string_view node) {
  if (!IsName(node)) return absl::InvalidArgumentError("the node's name is not one");
  return absl::StrCat(kBeats, TokenOf(std::string(node)));
}

absl::StatusOr<std::string> ParseBeatSubject(std::string_view text) {
  std::string node;
  if (text.substr(0, kBeatsSize) != kBeats || !ReadToken(text.substr(kBeatsSize), node)) {
    return absl::InvalidArgumentError("the subject is not a node's");
  }
  return node;
}

}  // namespace reel::front
