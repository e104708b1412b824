// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/log_writer.h"

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/front/fleet/nats_handles.h"

namespace reel::front {
namespace {

using Outcome = WriteResult::Outcome;

constexpr absl::Duration kBetweenTries = absl::Milliseconds(50);
// Of JetStream; those that libnats 3.4 has no name for have their number from the server's.
constexpr int kWrongLastSequenceConstant = 10164;
constexpr int kMaximumBytes = 10077;
constexpr int kInsufficientResources = 10023;

bool IsTaken(int code) { return code == kWrongLastSequence || code == kWrongLastSequenceConstant; }

// Sure not to be stored; OK: nothing is sure.
absl::Status RefusalOf(natsStatus status, int code) {
  if (code == kMaximumBytes || code == kInsufficientResources) {
    return absl::ResourceExhaustedError(absl::StrCat("the fleet's log is full (", code, ")"));
  }
  if (status == NATS_MAX_PAYLOAD || status == NATS_INVALID_ARG || status == NATS_INVALID_SUBJECT) {
    return absl::InvalidArgumentError(
        absl::StrCat("the broker takes no such message: ", natsStatus_GetText(status)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WriteResult> LogWriter::Write(const LogWrite& write, absl::Duration patience) const {
  const absl::Time end = absl::Now() + patience;
  jsPubOptions options;
  jsPubOptions_Init(&options);
  options.ExpectNoMessage = true;  // ExpectLastSubjectSeq 0 would be no condition at all
  options.ExpectStream = connection_.names().stream().c_str();
  options.MsgId = write.message_id.c_str();
  options.MaxWait = absl::ToInt64Milliseconds(connection_.options().answer);
  const std::string subject = connection_.names().At(write.subject);
  bool was_sent = write.repeated;
  for (;;) {
    if (!connection_.IsUp()) {
      if (!was_sent) {
        return absl::UnavailableError("the fleet's log cannot be reached; nothing was written");
      }
    } else {
      jsPubAck* made = nullptr;
      jsErrCode code{};
      const natsStatus status =
          js_Publish(&made, connection_.jet_stream(), subject.c_str(), write.payload.data(),
                     static_cast<int>(write.payload.size()), &options, &code);
      const PublishAckPtr ack(made);
      // Also when it was a repetition: the id is nobody else's. Without a sequence the leader knows
      // the id of a message that its cluster has not agreed upon yet, and may never.
      if (status == NATS_OK && ack->Sequence != 0) {
        return WriteResult{Outcome::kWon, ack->Sequence};
      }
      if (IsTaken(code)) {
        // Stored before: by a rival, unless a try of one's own came to no answer.
        if (!was_sent) return WriteResult{Outcome::kLost, 0};
        if (const std::optional<WriteResult> whose = AskWhose(write)) return *whose;
      }
      const absl::Status refusal = RefusalOf(status, code);
      if (!refusal.ok() && !was_sent) return refusal;
      was_sent = true;
    }
    if (absl::Now() + kBetweenTries > end) return WriteResult{};
    absl::SleepFor(kBetweenTries);
  }
}

std::optional<WriteResult> LogWriter::AskWhose(const LogWrite& write) const {
  natsMsg* made = nullptr;
  jsErrCode code{};
  const natsStatus status =
      js_GetLastMsg(&made, connection_.jet_stream(), connection_.names().stream().c_str(),
                    connection_.names().At(write.subject).c_str(), nullptr, &code);
  const NatsMessagePtr message(made);
  if (status != NATS_OK) return std::nullopt;
  if (HeaderOf(*message, kMessageIdHeader) != write.message_id) {
    return WriteResult{Outcome::kLost, 0};
  }
  return WriteResult{Outcome::kWon, natsMsg_GetSequence(message.get())};
}

}  // namespace reel::front
