// SPDX-License-Identifier: Apache-2.0
#include "server/front/workers/assignment_messages.h"

#include <algorithm>
#include <utility>

#include "server/convert/convert.h"
#include "server/convert/proto_duration.h"

namespace reel::front {
namespace {

void AddPieces(const std::string& job, int index, const std::string& bytes,
               std::vector<worker::v1::AttachResponse>& messages) {
  for (size_t offset = 0; offset < bytes.size(); offset += kConditionPieceBytes) {
    worker::v1::ConditionData& piece = *messages.emplace_back().mutable_condition_data();
    piece.set_job(job);
    piece.set_index(index);
    piece.set_data(bytes.substr(offset, kConditionPieceBytes));
    piece.set_last(offset + kConditionPieceBytes >= bytes.size());
  }
}

}  // namespace

std::vector<worker::v1::AttachResponse> MakeAssignmentMessages(const Assignment& assignment) {
  std::vector<worker::v1::AttachResponse> messages;
  int index = 0;
  for (const model::Condition& condition : assignment.spec.conditions) {
    if (condition.bytes) AddPieces(assignment.job, index, *condition.bytes, messages);
    ++index;
  }
  worker::v1::Assign& assign = *messages.emplace_back().mutable_assign();
  assign.set_job(assignment.job);
  assign.set_attempt(assignment.attempt);
  *assign.mutable_spec() = SpecToProto(assignment.spec);
  assign.set_order_key(assignment.order_key);
  if (assignment.time_left != absl::InfiniteDuration()) {
    SetProtoDuration(*assign.mutable_time_left(), assignment.time_left);
  }
  assign.set_alone(assignment.alone);
  assign.set_trace_id(assignment.trace_id);
  return messages;
}

}  // namespace reel::front
