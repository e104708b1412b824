// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/log_messages.h"

#include <optional>

#include "reel/fleet/v1/log.pb.h"

namespace reel::front {
namespace {

namespace v1 = ::reel::fleet::v1;
using Said = decltype(LogEntry::said);

template <typename Message>
std::optional<Message> Parse(const std::string& bytes) {
  Message message;
  if (!message.ParseFromString(bytes)) return std::nullopt;
  return message;
}

Said ReadClaim(const std::string& bytes) {
  const std::optional<v1::Claim> claim = Parse<v1::Claim>(bytes);
  if (!claim || claim->node().empty()) return UnreadableSaid{};
  return ClaimSaid{claim->node()};
}

Said ReadFinish(const std::string& bytes) {
  const std::optional<v1::Finish> finish = Parse<v1::Finish>(bytes);
  if (!finish || finish->node().empty()) return UnreadableSaid{};
  switch (finish->end_case()) {
    case v1::Finish::kSucceeded:
      return FinishSaid{finish->node(), FinishKind::kSucceeded};
    case v1::Finish::kFailed:
      return FinishSaid{finish->node(), FinishKind::kFailed};
    case v1::Finish::kReleased:
      return FinishSaid{finish->node(), FinishKind::kReleased};
    case v1::Finish::END_NOT_SET:
      break;
  }
  return UnreadableSaid{};
}

Said ReadWish(const std::string& bytes) {
  const std::optional<v1::CancelWish> wish = Parse<v1::CancelWish>(bytes);
  if (wish && wish->kind() == v1::CancelWish::KIND_CANCELLED) {
    return CancelSaid{CancelKind::kCancelled};
  }
  if (wish && wish->kind() == v1::CancelWish::KIND_EXPIRED) {
    return CancelSaid{CancelKind::kExpired};
  }
  return UnreadableSaid{};
}

Said Read(LogKind kind, const std::string& bytes) {
  switch (kind) {
    case LogKind::kRequest:
      if (Parse<v1::Request>(bytes)) return RequestSaid{};
      break;
    case LogKind::kClaim:
      return ReadClaim(bytes);
    case LogKind::kFinish:
      return ReadFinish(bytes);
    case LogKind::kCancel:
      return ReadWish(bytes);
  }
  return UnreadableSaid{};
}

}  // namespace

LogEntry ReadEntry(const StoredMessage& message) {
  LogEntry entry;
  entry.sequence = message.sequence;
  const absl::StatusOr<LogSubject> subject = ParseSubject(message.subject);
  if (!subject.ok()) return entry;
  entry.subject = *subject;
  entry.said = Read(subject->kind, message.payload);
  return entry;
}

}  // namespace reel::front
