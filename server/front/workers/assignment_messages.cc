// SPDX-License-Identifier: Apache-2.0
#include "server/front/workers/assignment_messages.h"

#include <algorithm>
#include <utility>

#include "server/convert/report_convert.h"

namespace reel::front {
namespace {

void AddPieces(const std::string& job, int index, const std::string& bytes,
               std::vector<worker::v1::AttachResponse>& messages) {
  for (size_t offset = 0; offset < bytes.size(); offset += kConditionPieceBytes) {
    worker::v1::ConditionData& piece = *messages.emplace_back().mutable_condition_data();
    piece.set_job(job);
    piece.set_index(index);
    piece.set_data(bytes.substr(offset, kConditionPieceBytes));
  }
}

void AddStatePieces(const std::string& job, const std::string& bytes,
                    std::vector<worker::v1::AttachResponse>& messages) {
  for (size_t offset = 0; offset < bytes.size(); offset += kConditionPieceBytes) {
    worker::v1::StateData& piece = *messages.emplace_back().mutable_state_data();
    piece.set_job(job);
    piece.set_offset(static_cast<int64_t>(offset));
    piece.set_data(bytes.substr(offset, kConditionPieceBytes));
  }
}

}  // namespace

std::vector<worker::v1::AttachResponse> MakeAssignmentMessages(const Assignment& assignment) {
  std::vector<worker::v1::AttachResponse> messages;
  int index = 0;
  for (const model::Condition& condition : assignment.spec.conditions) {
    if (condition.bytes) AddPieces(assignment.ref.job, index, *condition.bytes, messages);
    ++index;
  }
  const auto& source = assignment.spec.source;
  if (source && source->state) AddStatePieces(assignment.ref.job, *source->state, messages);
  *messages.emplace_back().mutable_assign() = AssignmentToProto(assignment);
  return messages;
}

}  // namespace reel::front
