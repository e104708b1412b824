// SPDX-License-Identifier: Apache-2.0
#include "server/worker/link/command_reader.h"

#include <memory>
#include <utility>

#include "kernels/base/digest/sha256.h"
#include "server/convert/proto_duration.h"
#include "server/convert/report_convert.h"
#include "server/convert/worker_convert.h"

namespace reel::worker {

std::optional<EngineCommand> CommandReader::Read(worker::v1::AttachResponse message) {
  using Kind = worker::v1::AttachResponse::MessageCase;
  switch (message.message_case()) {
    case Kind::kConditionData:
      Keep(*message.mutable_condition_data());
      return std::nullopt;
    case Kind::kStateData:
      Keep(*message.mutable_state_data());
      return std::nullopt;
    case Kind::kAssign:
      return ReadAssign(message.assign());
    case Kind::kReorder:
      return ReorderJob{message.reorder().job(), message.reorder().order_key()};
    case Kind::kPark:
      return ParkJob{message.park().job(), message.park().to_host()};
    case Kind::kResume:
      return ResumeJob{message.resume().job()};
    case Kind::kCancel:
      TakeFor(message.cancel().job());
      TakeState(message.cancel().job(), 0, "");
      return CancelJob{message.cancel().job()};
    case Kind::kLoadModel:
      return LoadModel{LoadFromProto(message.load_model()), message.load_model().revision()};
    case Kind::kUnloadModel:
      return UnloadModel{message.unload_model().model()};
    case Kind::kDrain:
      return DrainEngine{FromProtoDuration(message.drain().time_left())};
    default:
      return std::nullopt;
  }
}

void CommandReader::Keep(worker::v1::ConditionData& piece) {
  const auto size = static_cast<int64_t>(piece.data().size());
  // The job then fails for lack of its pixels; nothing else is affected.
  if (waiting_bytes_ + size > kMaxWaitingBytes) return;
  waiting_bytes_ += size;
  waiting_[piece.job()][piece.index()] += piece.data();
}

CommandReader::Pixels CommandReader::TakeFor(const std::string& job) {
  auto node = waiting_.extract(job);
  if (node.empty()) return {};
  for (const auto& [index, bytes] : node.mapped()) {
    waiting_bytes_ -= static_cast<int64_t>(bytes.size());
  }
  return std::move(node.mapped());
}

// A state with a gap, or too many of them: the job then fails for lack of its state.
void CommandReader::Keep(worker::v1::StateData& piece) {
  const auto size = static_cast<int64_t>(piece.data().size());
  const auto found = states_.find(piece.job());
  const int64_t so_far = found == states_.end() ? 0 : static_cast<int64_t>(found->second.size());
  if (piece.offset() != so_far || state_bytes_ + size > kMaxStateBytes) {
    TakeState(piece.job(), 0, "");
    return;
  }
  state_bytes_ += size;
  states_[piece.job()] += piece.data();
}

std::shared_ptr<const std::string> CommandReader::TakeState(const std::string& job, int64_t size,
                                                            const std::string& sha256) {
  auto node = states_.extract(job);
  if (node.empty()) return nullptr;
  const auto bytes = static_cast<int64_t>(node.mapped().size());
  state_bytes_ -= bytes;
  if (bytes != size || Sha256Hex(node.mapped()) != sha256) return nullptr;
  return std::make_shared<const std::string>(std::move(node.mapped()));
}

Assignment CommandReader::ReadAssign(const worker::v1::Assign& assign) {
  Assignment assignment = AssignmentFromProto(assign);
  Pixels pixels = TakeFor(assignment.ref.job);
  for (size_t i = 0; i < assignment.spec.conditions.size(); ++i) {
    model::Condition& condition = assignment.spec.conditions[i];
    const auto found = pixels.find(static_cast<int>(i));
    // An incomplete clip is worse than none.
    if (found == pixels.end() ||
        static_cast<int64_t>(found->second.size()) != condition.size_bytes) {
      continue;
    }
    condition.bytes = std::make_shared<const std::string>(std::move(found->second));
  }
  const int64_t state_size = assignment.state_size_bytes;
  const std::string sha256 = assignment.spec.source ? assignment.spec.source->state_sha256 : "";
  auto state = TakeState(assignment.ref.job, state_size, sha256);
  if (assignment.spec.source) assignment.spec.source->state = std::move(state);
  return assignment;
}

}  // namespace reel::worker
