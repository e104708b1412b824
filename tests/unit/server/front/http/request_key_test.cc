// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "server/front/api/authorizer.h"
#include "server/front/http/door_request.h"

namespace reel::front {
namespace {

constexpr char kOwnId[] = "00000000-0000-4000-8000-00000000000A";

DoorHead HeadWithKey(const std::string& key) {
  DoorHead head;
  head.fields.push_back({"idempotency-key", key});
  return head;
}

TEST(RequestKey, IsTheIdOrItsName) {
  std::string id;
  EXPECT_TRUE(TakeRequestKey(DoorHead(), id).ok());
  EXPECT_EQ(id, "");
  EXPECT_TRUE(TakeRequestKey(HeadWithKey(kOwnId), id).ok());
  EXPECT_EQ(id, kOwnId);
  std::string named, same, other;
  EXPECT_TRUE(TakeRequestKey(HeadWithKey("order-7"), named).ok());
  EXPECT_TRUE(TakeRequestKey(HeadWithKey("order-7"), same).ok());
  EXPECT_TRUE(TakeRequestKey(HeadWithKey("order-8"), other).ok());
  EXPECT_TRUE(IsUuid(named));
  EXPECT_EQ(named[14], '5');
  EXPECT_EQ(named, same);
  EXPECT_NE(named, other);
}

TEST(RequestKey, IsRefusedWhereItIsNoneOrNotTheRequestsOwn) {
  for (const std::string& key :
       {std::string(), std::string(65, 'a'), std::string("a b"), std::string("\xc3\xa4")}) {
    std::string id;
    EXPECT_FALSE(TakeRequestKey(HeadWithKey(key), id).ok()) << key;
  }
  DoorHead twice = HeadWithKey("a");
  twice.fields.push_back({"idempotency-key", "a"});
  std::string id;
  EXPECT_FALSE(TakeRequestKey(twice, id).ok());
  id = "00000000-0000-4000-8000-00000000000b";
  EXPECT_FALSE(TakeRequestKey(HeadWithKey(kOwnId), id).ok());
  id = "00000000-0000-4000-8000-00000000000a";
  EXPECT_TRUE(TakeRequestKey(HeadWithKey(kOwnId), id).ok());
}

TEST(KeyedCall, TellsAJoinedVideoFromItsOwn) {
  DoorRequest request;
  request.trace_id = "t";
  const KeyedCall call(request, kOwnId);
  Video video;
  video.trace_id = "t";
  video.create_time = absl::Now() + absl::Seconds(1);
  const auto marked = [&](const KeyedCall& by) {
    DoorReply reply;
    by.Mark(video, reply);
    return !reply.fields.empty();
  };
  EXPECT_FALSE(marked(call));
  video.create_time = absl::Now() - absl::Hours(1);
  EXPECT_TRUE(marked(call));
  EXPECT_FALSE(marked(KeyedCall(request, "")));
  video.create_time = absl::Now() + absl::Seconds(1);
  video.trace_id = "u";
  EXPECT_TRUE(marked(call));
}

}  // namespace
}  // namespace reel::front
