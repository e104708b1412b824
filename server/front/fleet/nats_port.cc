// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/nats_port.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "kernels/base/status_macros.h"
#include "server/front/fleet/log_messages.h"
#include "server/front/fleet/nats_handles.h"
#include "server/front/fleet/subjects.h"

namespace reel::front {

absl::StatusOr<std::unique_ptr<FleetLog>> FleetLog::Open(const FleetLogOptions& options,
                                                         TailStart start, LogReader& reader) {
  REEL_ASSIGN_OR_RETURN(std::unique_ptr<LogConnection> connection, LogConnection::Open(options));
  return std::unique_ptr<FleetLog>(new FleetLog(std::move(connection), start, reader));
}

FleetLog::FleetLog(std::unique_ptr<LogConnection> connection, TailStart start, LogReader& reader)
    : connection_(std::move(connection)),
      writer_(*connection_),
      tail_(*connection_, start, reader) {}

namespace {

// Room for a few seconds of a thousand nodes' beats. Further ones are dropped, as beats may be.
constexpr int kMostBeats = 4096;
constexpr int kMostBeatBytes = 64 << 20;

// The broker lets a key publish only under its own node's name, so the subject decides whose beat
// it is.
bool IsOfItsNode(const std::string& bytes, const std::string& subject) {
  const absl::StatusOr<std::string> node = ParseBeatSubject(subject);
  if (!node.ok()) return false;
  const std::optional<NodeBeat> beat = ReadBeat(bytes);
  return beat && beat->node == *node;
}

}  // namespace

absl::StatusOr<std::unique_ptr<NatsPort>> NatsPort::Open(const FleetLogOptions& options,
                                                         LogReader& reader) {
  REEL_ASSIGN_OR_RETURN(std::unique_ptr<FleetLog> log,
                        FleetLog::Open(options, reader.Start(), reader));
  std::unique_ptr<NatsPort> port(new NatsPort(std::move(log)));
  REEL_RETURN_IF_ERROR(port->Subscribe());
  return port;
}

NatsPort::~NatsPort() {
  const MutexLock lock(mutex_);
  log_->connection().Retire(std::move(beats_));
}

absl::Status NatsPort::Subscribe() {
  natsSubscription* made = nullptr;
  const natsStatus status = natsConnection_SubscribeSync(
      &made, log_->connection().connection(), log_->connection().names().Beats().c_str());
  if (status != NATS_OK) {
    return absl::UnavailableError(
        absl::StrCat("beats of other nodes cannot be heard: ", natsStatus_GetText(status)));
  }
  natsSubscription_SetPendingLimits(made, kMostBeats, kMostBeatBytes);
  const MutexLock lock(mutex_);
  beats_.reset(made);
  return absl::OkStatus();
}

LogHealth NatsPort::Health() const {
  const LogTail& tail = log_->tail();
  LogHealth health;
  health.connected = log_->connection().IsUp();
  health.answers = health.connected && tail.answers();
  // libnats 3.4 does not reconnect to a server that has refused it twice.
  health.closed = natsConnection_IsClosed(log_->connection().connection());
  health.newest = tail.newest();
  health.holes = tail.holes();
  health.rebuilds = tail.rebuilds();
  health.versions = log_->connection().versions();
  return health;
}

absl::StatusOr<uint64_t> NatsPort::Newest() {
  REEL_ASSIGN_OR_RETURN(const StreamFacts facts, log_->connection().Look());
  return facts.last;
}

void NatsPort::SendBeat(const std::string& node, const std::string& beat) {
  const absl::StatusOr<std::string> subject = MakeBeatSubject(node);
  // libnats would buffer it while the connection is down and send it later, as the heartbeat of a
  // node that may be dead.
  if (!subject.ok() || !IsUp()) return;
  natsConnection_Publish(log_->connection().connection(),
                         log_->connection().names().At(*subject).c_str(), beat.data(),
                         static_cast<int>(beat.size()));
}

std::vector<std::string> NatsPort::TakeBeats() {
  std::vector<std::string> beats;
  const MutexLock lock(mutex_);
  for (int i = 0; i < kMostBeats; ++i) {
    natsMsg* next = nullptr;
    const natsStatus status = natsSubscription_NextMsg(&next, beats_.get(), 0);
    const NatsMessagePtr message(next);
    if (status == NATS_SLOW_CONSUMER) continue;  // some were dropped; the rest is there
    if (status != NATS_OK) break;
    std::string bytes(natsMsg_GetData(next), static_cast<size_t>(natsMsg_GetDataLength(next)));
    const std::string subject = log_->connection().names().Within(natsMsg_GetSubject(next));
    if (IsOfItsNode(bytes, subject)) beats.push_back(std::move(bytes));
  }
  return beats;
}

namespace {

using Outcome = WriteResult::Outcome;

constexpr absl::Duration kBetweenTries = absl::Milliseconds(50);
// JetStream's error codes; numbers are the server's where libnats 3.4 has no name.
constexpr int kWrongLastSequenceConstant = 10164;
constexpr int kMaximumBytes = 10077;
constexpr int kInsufficientResources = 10023;

bool IsTaken(int code) { return code == kWrongLastSequence || code == kWrongLastSequenceConstant; }

// The error if the message is certainly not stored; OK if that is unknown.
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
      // Also for a repetition, since the id is unique. Without a sequence the cluster has not
      // agreed on the message yet, and may never.
      if (status == NATS_OK && ack->Sequence != 0) {
        return WriteResult{Outcome::kWon, ack->Sequence};
      }
      if (IsTaken(code)) {
        // Stored before: by a rival, unless an earlier try of this node got no answer.
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
