// SPDX-License-Identifier: Apache-2.0
#include "server/worker/link/command_reader.h"

#include <gtest/gtest.h>

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
