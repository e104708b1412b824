// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/log_messages.h"

#include <optional>

#include "absl/strings/escaping.h"
#include "reel/fleet/v1/log.pb.h"

namespace reel::front {
namespace {

namespace v1 = ::reel::fleet::v1;
using Said = decltype(FoldEntry::said);

template <typename Message>
std::optional<Message> Parse(const std::string& bytes) {
  Message message;
  if (!message.ParseFromString(bytes)) return std::nullopt;
  return message;
}

Said ReadRequest(const std::string& bytes) {
  const std::optional<v1::Request> request = Parse<v1::Request>(bytes);
  if (!request || static_cast<size_t>(request->others_size()) > kMostOthers) {
    return UnreadableSaid{};
  }
  RequestSaid said{request->video(), request->caller_node()};
  for (const v1::OtherVideo& other : request->others()) {
    const bool is_name = MakeSubject({"t", other.id(), LogKind::kRequest, 0}).ok();
    if (!is_name) return UnreadableSaid{};
    said.others.push_back({other.id(), other.video()});
  }
  return said;
}

Said ReadClaim(const std::string& bytes) {
  const std::optional<v1::Claim> claim = Parse<v1::Claim>(bytes);
  if (!claim || claim->node().empty()) return UnreadableSaid{};
  return ClaimSaid{claim->node(), claim->address(), claim->goes_on()};
}

Said ReadFinish(const std::string& bytes) {
  const std::optional<v1::Finish> finish = Parse<v1::Finish>(bytes);
  if (!finish || finish->node().empty()) return UnreadableSaid{};
  FinishSaid said{finish->node(), FinishKind::kFailed, finish->video(), finish->last_sequence()};
  switch (finish->end_case()) {
    case v1::Finish::kSucceeded:
      said.kind = FinishKind::kSucceeded;
      said.object = finish->succeeded().key();
      said.object_bytes = finish->succeeded().size_bytes();
      said.object_sha256 = absl::BytesToHexString(finish->succeeded().sha256());
      return said;
    case v1::Finish::kFailed:
      return said;
    case v1::Finish::kReleased:
      said.kind = FinishKind::kReleased;
      said.no_room = finish->released().no_room();
      return said;
    case v1::Finish::END_NOT_SET:
      break;
  }
  return UnreadableSaid{};
}

Said ReadWish(const std::string& bytes) {
  const std::optional<v1::CancelWish> wish = Parse<v1::CancelWish>(bytes);
  if (wish && wish->kind() == v1::CancelWish::KIND_CANCELLED) {
    return CancelSaid{CancelKind::kCancelled, wish->video()};
  }
  if (wish && wish->kind() == v1::CancelWish::KIND_EXPIRED) {
    return CancelSaid{CancelKind::kExpired, wish->video()};
  }
  return UnreadableSaid{};
}

Said ReadBinding(const std::string& bytes) {
  const std::optional<v1::Binding> binding = Parse<v1::Binding>(bytes);
  if (!binding || binding->video().empty()) return UnreadableSaid{};
  return BindingSaid{binding->video(), binding->spec_hash()};
}

Said Read(LogKind kind, const std::string& bytes) {
  switch (kind) {
    case LogKind::kRequest:
      return ReadRequest(bytes);
    case LogKind::kBinding:
      return ReadBinding(bytes);
    case LogKind::kClaim:
      return ReadClaim(bytes);
    case LogKind::kFinish:
      return ReadFinish(bytes);
    case LogKind::kCancel:
      return ReadWish(bytes);
    case LogKind::kDelete:
      if (Parse<v1::Deletion>(bytes)) return DeleteSaid{};
      break;
  }
  return UnreadableSaid{};
}

}  // namespace

FoldEntry ReadEntry(const StoredMessage& message) {
  FoldEntry entry;
  entry.sequence = message.sequence;
  const absl::StatusOr<LogSubject> subject = ParseSubject(message.subject);
  if (!subject.ok()) return entry;
  entry.subject = *subject;
  entry.said = Read(subject->kind, message.payload);
  return entry;
}

std::string WriteRequest(const RequestSaid& request) {
  v1::Request message;
  message.set_video(request.video);
  message.set_caller_node(request.caller_node);
  for (const OtherSaid& said : request.others) {
    v1::OtherVideo& other = *message.add_others();
    other.set_id(said.id);
    other.set_video(said.video);
  }
  return message.SerializeAsString();
}

std::string WriteClaim(const ClaimSaid& claim) {
  v1::Claim message;
  message.set_node(claim.node);
  message.set_address(claim.address);
  message.set_goes_on(claim.goes_on);
  return message.SerializeAsString();
}

std::string WriteFinish(const FinishSaid& finish, const std::string& reason) {
  v1::Finish message;
  message.set_node(finish.node);
  message.set_video(finish.video);
  message.set_last_sequence(finish.last_sequence);
  switch (finish.kind) {
    case FinishKind::kSucceeded:
      message.mutable_succeeded()->set_key(finish.object);
      message.mutable_succeeded()->set_size_bytes(finish.object_bytes);
      message.mutable_succeeded()->set_sha256(absl::HexStringToBytes(finish.object_sha256));
      break;
    case FinishKind::kFailed:
      message.mutable_failed()->set_reason(reason);
      break;
    case FinishKind::kReleased:
      message.mutable_released()->set_why(reason);
      message.mutable_released()->set_no_room(finish.no_room);
      break;
  }
  return message.SerializeAsString();
}

std::string WriteWish(const CancelSaid& wish) {
  v1::CancelWish message;
  message.set_kind(wish.kind == CancelKind::kExpired ? v1::CancelWish::KIND_EXPIRED
                                                     : v1::CancelWish::KIND_CANCELLED);
  message.set_video(wish.video);
  return message.SerializeAsString();
}

std::string WriteDeletion() { return v1::Deletion().SerializeAsString(); }

std::string WriteBinding(const BindingSaid& binding) {
  v1::Binding message;
  message.set_video(binding.video);
  message.set_spec_hash(binding.spec_hash);
  return message.SerializeAsString();
}

void AddClaims(const std::string& tenant, const std::string& id, uint32_t last,
               const ClaimSaid& claim, std::vector<LogMessage>& messages) {
  for (uint32_t epoch = 1; epoch <= last; ++epoch) {
    messages.push_back({{tenant, id, LogKind::kClaim, epoch}, WriteClaim(claim)});
  }
}

std::string WriteBeat(const NodeBeat& beat) {
  v1::Beat message;
  message.set_node(beat.node);
  message.set_address(beat.address);
  message.set_build(beat.build);
  message.set_position(beat.position);
  message.set_process(beat.process);
  message.set_claimed(beat.claimed);
  message.set_room(beat.room);
  message.set_draining(beat.draining);
  message.set_unfit(beat.unfit);
  message.set_holds_name(beat.holds_name);
  for (const NodeBeat::Model& model : beat.models) {
    v1::BeatModel& out = *message.add_models();
    out.set_name(model.name);
    out.set_ready_devices(model.ready_devices);
    out.set_card(model.card);
    out.mutable_kernels()->Assign(model.kernels.begin(), model.kernels.end());
  }
  message.mutable_kernels()->Assign(beat.kernels.begin(), beat.kernels.end());
  message.mutable_prompt_keys()->Assign(beat.prompt_keys.begin(), beat.prompt_keys.end());
  return message.SerializeAsString();
}

std::optional<NodeBeat> ReadBeat(const std::string& bytes) {
  const std::optional<v1::Beat> message = Parse<v1::Beat>(bytes);
  if (!message || message->node().empty()) return std::nullopt;
  NodeBeat beat;
  beat.node = message->node();
  beat.address = message->address();
  beat.build = message->build();
  beat.position = message->position();
  beat.process = message->process();
  beat.claimed = message->claimed();
  beat.room = message->room();
  beat.draining = message->draining();
  beat.unfit = message->unfit();
  beat.holds_name = message->holds_name();
  for (const v1::BeatModel& model : message->models()) {
    beat.models.push_back({model.name(),
                           model.ready_devices(),
                           model.card(),
                           {model.kernels().begin(), model.kernels().end()}});
  }
  beat.kernels.assign(message->kernels().begin(), message->kernels().end());
  beat.prompt_keys.assign(message->prompt_keys().begin(), message->prompt_keys().end());
  return beat;
}

}  // namespace reel::front
