// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/front/workers/attach_server.h"

namespace reel::front {
namespace {

SendQueue::Message Pixels(const std::string& job) {
  SendQueue::Message message;
  message.mutable_condition_data()->set_job(job);
  return message;
}
SendQueue::Message Assign(const std::string& job) {
  SendQueue::Message message;
  message.mutable_assign()->set_job(job);
  return message;
}
SendQueue::Message Cancel(const std::string& job) {
  SendQueue::Message message;
  message.mutable_cancel()->set_job(job);
  return message;
}

// e.g. "pixels a, assign a".
std::string Drained(SendQueue& queue) {
  std::string out;
  while (auto message = queue.Pop()) {
    if (!out.empty()) out += ", ";
    if (message->has_condition_data()) out += "pixels " + message->condition_data().job();
    if (message->has_assign()) out += "assign " + message->assign().job();
    if (message->has_cancel()) out += "cancel " + message->cancel().job();
  }
  return out;
}

TEST(SendQueue, LetsControlOvertakeThePixelsOfOtherJobs) {
  SendQueue queue;
  queue.Push("a", Pixels("a"));
  queue.Push("a", Assign("a"));
  queue.Push("b", Cancel("b"));
  EXPECT_EQ(Drained(queue), "cancel b, pixels a, assign a");
}

TEST(SendQueue, LetsControlOvertakeTheStatesOfOtherJobs) {
  SendQueue queue;
  SendQueue::Message state;
  state.mutable_state_data()->set_job("a");
  queue.Push("a", state);
  queue.Push("a", Assign("a"));
  queue.Push("b", Cancel("b"));
  EXPECT_TRUE(queue.Pop()->has_cancel());
  EXPECT_TRUE(queue.Pop()->has_state_data());
  EXPECT_TRUE(queue.Pop()->has_assign());
}

TEST(SendQueue, NeverLetsAJobsCancelOvertakeItsAssign) {
  SendQueue queue;
  queue.Push("a", Pixels("a"));
  queue.Push("a", Assign("a"));
  queue.Push("a", Cancel("a"));
  EXPECT_EQ(Drained(queue), "pixels a, assign a, cancel a");
}

TEST(SendQueue, KeepsTheOrderOfAJobWithoutPixels) {
  SendQueue queue;
  queue.Push("a", Assign("a"));
  queue.Push("a", Cancel("a"));
  EXPECT_EQ(Drained(queue), "assign a, cancel a");
}

TEST(SendQueue, TreatsAJobLikeOthersOnceItsPixelsAreGone) {
  SendQueue queue;
  queue.Push("a", Pixels("a"));
  queue.Push("a", Assign("a"));
  EXPECT_EQ(Drained(queue), "pixels a, assign a");
  queue.Push("b", Pixels("b"));
  queue.Push("a", Cancel("a"));
  EXPECT_EQ(Drained(queue), "cancel a, pixels b");
}

}  // namespace
}  // namespace reel::front
