// SPDX-License-Identifier: Apache-2.0
#include "server/worker/link/command_reader.h"

#include <gtest/gtest.h>

#include "kernels/base/digest/sha256.h"
#include "server/convert/convert.h"

namespace reel::worker {
namespace {

using Message = worker::v1::AttachResponse;

Message Piece(const std::string& job, int index, const std::string& data) {
  Message message;
  message.mutable_condition_data()->set_job(job);
  message.mutable_condition_data()->set_index(index);
  message.mutable_condition_data()->set_data(data);
  return message;
}

// With two conditions of so many bytes.
Message AssignOf(const std::string& job, int64_t first, int64_t second) {
  Message message;
  worker::v1::Assign& assign = *message.mutable_assign();
  assign.set_job(job);
  for (const int64_t size : {first, second}) {
    reel::v1::Condition& condition = *assign.mutable_spec()->add_conditions();
    condition.set_image("");
    condition.set_size_bytes(size);
  }
  return message;
}

TEST(CommandReader, JoinsPixelsIntoTheirJob) {
  CommandReader reader;
  EXPECT_FALSE(reader.Read(Piece("a", 1, "sec")));
  EXPECT_FALSE(reader.Read(Piece("b", 1, "other")));
  EXPECT_FALSE(reader.Read(Piece("a", 1, "ond")));
  EXPECT_FALSE(reader.Read(Piece("a", 0, "first")));
  const auto command = reader.Read(AssignOf("a", 5, 6));
  const auto& job = std::get<Assignment>(*command);
  EXPECT_EQ(*job.spec.conditions[0].bytes, "first");
  EXPECT_EQ(*job.spec.conditions[1].bytes, "second");
}

TEST(CommandReader, LeavesIncompletePixelsOut) {
  CommandReader reader;
  reader.Read(Piece("a", 0, "fir"));
  const auto command = reader.Read(AssignOf("a", 5, 6));
  EXPECT_EQ(std::get<Assignment>(*command).spec.conditions[0].bytes, nullptr);
}

TEST(CommandReader, ForgetsThePixelsOfACancelledJob) {
  CommandReader reader;
  reader.Read(Piece("a", 0, "first"));
  Message cancel;
  cancel.mutable_cancel()->set_job("a");
  EXPECT_EQ(std::get<CancelJob>(*reader.Read(cancel)).job, "a");
  const auto command = reader.Read(AssignOf("a", 5, 6));
  EXPECT_EQ(std::get<Assignment>(*command).spec.conditions[0].bytes, nullptr);
}

TEST(CommandReader, KeepsABoundedNumberOfPixels) {
  CommandReader reader;
  const std::string piece(1 << 20, 'p');
  const auto pieces = static_cast<int>(CommandReader::kMaxWaitingBytes >> 20);
  for (int i = 0; i < pieces + 5; ++i) reader.Read(Piece("a", 0, piece));
  const auto command = reader.Read(AssignOf("a", CommandReader::kMaxWaitingBytes, 0));
  ASSERT_NE(std::get<Assignment>(*command).spec.conditions[0].bytes, nullptr);
  // And those that were taken do not count any more.
  reader.Read(Piece("b", 0, "p"));
  const auto next = reader.Read(AssignOf("b", 1, 0));
  EXPECT_NE(std::get<Assignment>(*next).spec.conditions[0].bytes, nullptr);
}

Message StatePiece(const std::string& job, int64_t offset, const std::string& data) {
  Message message;
  message.mutable_state_data()->set_job(job);
  message.mutable_state_data()->set_offset(offset);
  message.mutable_state_data()->set_data(data);
  return message;
}

// What a job gets whose Assign says that its state is this one.
std::shared_ptr<const std::string> StateOf(CommandReader& reader, const std::string& job,
                                           const std::string& state) {
  Message message;
  worker::v1::Assign& assign = *message.mutable_assign();
  assign.set_job(job);
  assign.set_state_size_bytes(static_cast<int64_t>(state.size()));
  assign.mutable_spec()->mutable_source()->mutable_promote();
  assign.mutable_spec()->mutable_source()->set_state_sha256(Sha256Hex(state));
  return std::get<Assignment>(*reader.Read(message)).spec.source->state;
}

TEST(CommandReader, JoinsTheStateThatAJobBeginsFrom) {
  CommandReader reader;
  EXPECT_FALSE(reader.Read(StatePiece("a", 0, "one ")));
  EXPECT_FALSE(reader.Read(StatePiece("b", 0, "another")));
  EXPECT_FALSE(reader.Read(StatePiece("a", 4, "two")));
  const auto state = StateOf(reader, "a", "one two");
  ASSERT_NE(state, nullptr);
  EXPECT_EQ(*state, "one two");
  EXPECT_EQ(StateOf(reader, "a", "one two"), nullptr) << "it was taken";
  EXPECT_NE(StateOf(reader, "b", "another"), nullptr);
}

TEST(CommandReader, LeavesAStateOutThatIsNotTheOneThatWasKept) {
  CommandReader reader;
  reader.Read(StatePiece("a", 0, "one two"));
  EXPECT_EQ(StateOf(reader, "a", "one twi"), nullptr) << "another hash";
  reader.Read(StatePiece("a", 0, "one two"));
  EXPECT_EQ(StateOf(reader, "a", "one two three"), nullptr) << "cut";
  reader.Read(StatePiece("a", 0, "one "));
  reader.Read(StatePiece("a", 5, "wo"));
  EXPECT_EQ(StateOf(reader, "a", "one wo"), nullptr) << "a gap";
  reader.Read(StatePiece("a", 4, "two"));
  EXPECT_EQ(StateOf(reader, "a", "two"), nullptr) << "no beginning";
  EXPECT_EQ(StateOf(reader, "a", ""), nullptr);
}

TEST(CommandReader, ForgetsTheStateOfACancelledJobAndKeepsABoundedNumberOfBytes) {
  CommandReader reader;
  const std::string piece(16 << 20, 's');
  const auto pieces = CommandReader::kMaxStateBytes / static_cast<int64_t>(piece.size());
  for (int64_t i = 0; i < pieces; ++i) {
    reader.Read(StatePiece("a", i * static_cast<int64_t>(piece.size()), piece));
  }
  reader.Read(StatePiece("b", 0, "state"));
  EXPECT_EQ(StateOf(reader, "b", "state"), nullptr) << "there was no room";
  Message cancel;
  cancel.mutable_cancel()->set_job("a");
  EXPECT_TRUE(reader.Read(cancel));
  reader.Read(StatePiece("b", 0, "state"));
  EXPECT_NE(StateOf(reader, "b", "state"), nullptr);
}

TEST(CommandReader, ReadsEveryValueOfAnAssign) {
  CommandReader reader;
  Message message;
  worker::v1::Assign& assign = *message.mutable_assign();
  assign.set_job("a");
  assign.set_attempt(3);
  assign.mutable_spec()->set_prompt("p");
  assign.set_order_key(1.5);
  assign.set_alone(true);
  assign.set_trace_id("t");
  const auto endless = std::get<Assignment>(*reader.Read(message));
  EXPECT_EQ(endless.time_left, absl::InfiniteDuration());
  assign.mutable_time_left()->set_seconds(9);
  const auto job = std::get<Assignment>(*reader.Read(message));
  EXPECT_EQ(job.ref.job, "a");
  EXPECT_EQ(job.ref.attempt, 3);
  EXPECT_EQ(job.spec.prompt, "p");
  EXPECT_EQ(job.order_key, 1.5);
  EXPECT_TRUE(job.alone);
  EXPECT_EQ(job.ref.trace_id, "t");
  EXPECT_EQ(job.time_left, absl::Seconds(9));
}

TEST(CommandReader, ReadsEveryOtherCommand) {
  CommandReader reader;
  Message message;
  message.mutable_reorder()->set_order_key(2);
  EXPECT_EQ(std::get<ReorderJob>(*reader.Read(message)).order_key, 2);
  message.mutable_park()->set_to_host(true);
  EXPECT_TRUE(std::get<ParkJob>(*reader.Read(message)).to_host);
  message.mutable_resume()->set_job("r");
  EXPECT_EQ(std::get<ResumeJob>(*reader.Read(message)).job, "r");
  message.mutable_load_model()->set_model("m");
  EXPECT_EQ(std::get<LoadModel>(*reader.Read(message)).options.name, "m");
  message.mutable_unload_model()->set_model("u");
  EXPECT_EQ(std::get<UnloadModel>(*reader.Read(message)).model, "u");
  message.mutable_drain()->mutable_time_left()->set_seconds(4);
  EXPECT_EQ(std::get<DrainEngine>(*reader.Read(message)).time_left, absl::Seconds(4));
  EXPECT_FALSE(reader.Read(Message()));
}

}  // namespace
}  // namespace reel::worker
