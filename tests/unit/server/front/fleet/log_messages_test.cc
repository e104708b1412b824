// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/log_messages.h"

#include <gtest/gtest.h>

#include <random>

#include "absl/strings/str_cat.h"
#include "reel/fleet/v1/log.pb.h"
#include "tests/fakes/memory_records.h"

namespace reel::front {
namespace {

using reel::testing::Fold;

namespace v1 = ::reel::fleet::v1;

bool IsUnreadable(const std::string& subject, const std::string& payload) {
  const FoldEntry entry = ReadEntry({7, subject, "", payload});
  EXPECT_EQ(entry.sequence, 7U);  // the position moves on all the same
  return std::holds_alternative<UnreadableSaid>(entry.said);
}

TEST(LogMessages, SayWhatTheFoldAsks) {
  v1::Claim claim;
  claim.set_node("n1");
  const FoldEntry read = ReadEntry({3, "j.t.id.c.2", "m", claim.SerializeAsString()});
  EXPECT_EQ(read.sequence, 3U);
  EXPECT_EQ(read.subject.epoch, 2U);
  ASSERT_TRUE(std::holds_alternative<ClaimSaid>(read.said));
  EXPECT_EQ(std::get<ClaimSaid>(read.said).node, "n1");

  v1::Finish finish;
  finish.set_node("n1");
  finish.mutable_released();
  const FoldEntry end = ReadEntry({4, "j.t.id.f.2", "m", finish.SerializeAsString()});
  ASSERT_TRUE(std::holds_alternative<FinishSaid>(end.said));
  EXPECT_EQ(std::get<FinishSaid>(end.said).kind, FinishKind::kReleased);
  EXPECT_FALSE(std::get<FinishSaid>(end.said).no_room);
  FinishSaid full{"n1", FinishKind::kReleased};
  full.no_room = true;
  const FoldEntry no_room = ReadEntry({4, "j.t.id.f.2", "m", WriteFinish(full, "full")});
  EXPECT_TRUE(std::get<FinishSaid>(no_room.said).no_room);
  finish.mutable_failed()->set_reason("WORKER_LOST");
  EXPECT_EQ(
      std::get<FinishSaid>(ReadEntry({4, "j.t.id.f.2", "m", finish.SerializeAsString()}).said).kind,
      FinishKind::kFailed);
  finish.mutable_succeeded()->set_key("media/t/id/2.mp4");
  EXPECT_EQ(
      std::get<FinishSaid>(ReadEntry({4, "j.t.id.f.2", "m", finish.SerializeAsString()}).said).kind,
      FinishKind::kSucceeded);

  v1::CancelWish wish;
  wish.set_kind(v1::CancelWish::KIND_EXPIRED);
  EXPECT_EQ(
      std::get<CancelSaid>(ReadEntry({5, "j.t.id.x", "m", wish.SerializeAsString()}).said).kind,
      CancelKind::kExpired);
  wish.set_kind(v1::CancelWish::KIND_CANCELLED);
  EXPECT_EQ(
      std::get<CancelSaid>(ReadEntry({5, "j.t.id.x", "m", wish.SerializeAsString()}).said).kind,
      CancelKind::kCancelled);
  EXPECT_FALSE(IsUnreadable("j.t.id.q", v1::Request().SerializeAsString()));
}

TEST(LogMessages, WhatSaysNothingIsUnreadable) {
  v1::Finish nobody;
  nobody.mutable_released();
  v1::Finish no_end;
  no_end.set_node("n1");
  EXPECT_TRUE(IsUnreadable("j.t.id.c.1", ""));
  EXPECT_TRUE(IsUnreadable("j.t.id.f.1", nobody.SerializeAsString()));
  EXPECT_TRUE(IsUnreadable("j.t.id.f.1", no_end.SerializeAsString()));
  EXPECT_TRUE(IsUnreadable("j.t.id.x", ""));
  EXPECT_TRUE(IsUnreadable("j.t.id.x", "\x08\x63"));  // a kind of a later build
  EXPECT_TRUE(IsUnreadable("j.t.id.q", "\xff"));
  EXPECT_TRUE(IsUnreadable("j.t.id", ""));
  EXPECT_TRUE(IsUnreadable("", ""));
}

TEST(LogMessages, AnyBytesAreReadOrUnreadable) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  std::mt19937 random(seed);
  FleetState state;
  for (uint64_t i = 1; i <= 20'000; ++i) {
    std::string bytes(random() % 24, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    static constexpr const char* kSubjects[] = {"j.t.a.q", "j.t.a.c.1", "j.t.a.f.1", "j.t.a.x"};
    Fold(state, ReadEntry({i, kSubjects[random() % 4], "", bytes}));
    ASSERT_EQ(state.position, i);
  }
}

TEST(LogMessages, ASuccessSaysWhereItsResultLies) {
  FinishSaid said{"n1", FinishKind::kSucceeded, "video", 9};
  said.object = "prod/media/t/id/1.mp4";
  said.object_bytes = 6;
  said.object_sha256 = std::string(32, 'a') + std::string(32, '0');
  const FoldEntry entry = ReadEntry({3, "j.t.id.f.1", "", WriteFinish(said, "")});
  const auto end = std::get<FinishSaid>(entry.said);
  EXPECT_EQ(end.object, said.object);
  EXPECT_EQ(end.object_bytes, 6);
  EXPECT_EQ(end.object_sha256, said.object_sha256);
  FleetState state;
  Fold(state, ReadEntry({1, "j.t.id.q", "", WriteRequest({"video", ""})}));
  Fold(state, ReadEntry({2, "j.t.id.c.1", "", WriteClaim({"n1", "h:1"})}));
  EXPECT_EQ(Fold(state, entry), FoldVerdict::kCounted);
  EXPECT_EQ((state.jobs[{"t", "id"}].object), said.object);
}

TEST(LogMessages, AreReadAsTheyWereWritten) {
  const auto read = [](const char* kind, const std::string& bytes) {
    return ReadEntry({1, absl::StrCat("j.t.id.", kind), "", bytes}).said;
  };
  const auto several = std::get<RequestSaid>(
      read("q", WriteRequest({"video", "", {{"id2", "second"}, {"id3", "third"}}})));
  EXPECT_EQ(several.others, (std::vector<OtherSaid>{{"id2", "second"}, {"id3", "third"}}));
  const auto request = std::get<RequestSaid>(read("q", WriteRequest({"video", "n1"})));
  EXPECT_EQ(request.video, "video");
  EXPECT_EQ(request.caller_node, "n1");
  const auto claim = std::get<ClaimSaid>(read("c.1", WriteClaim({"n1", "h:1"})));
  EXPECT_EQ(claim.node, "n1");
  EXPECT_EQ(claim.address, "h:1");
  EXPECT_FALSE(claim.goes_on);
  EXPECT_TRUE(std::get<ClaimSaid>(read("c.2", WriteClaim({"n1", "h:1", true}))).goes_on);
  for (const FinishKind kind :
       {FinishKind::kSucceeded, FinishKind::kFailed, FinishKind::kReleased}) {
    const auto end =
        std::get<FinishSaid>(read("f.1", WriteFinish({"n1", kind, "video", 9}, "WHY")));
    EXPECT_EQ(end.node, "n1");
    EXPECT_EQ(end.kind, kind);
    EXPECT_EQ(end.video, "video");
    EXPECT_EQ(end.last_sequence, 9U);
  }
  for (const CancelKind kind : {CancelKind::kCancelled, CancelKind::kExpired}) {
    const auto wish = std::get<CancelSaid>(read("x", WriteWish({kind, "ended"})));
    EXPECT_EQ(wish.kind, kind);
    EXPECT_EQ(wish.video, "ended");
  }
  EXPECT_TRUE(std::holds_alternative<DeleteSaid>(read("d", WriteDeletion())));
  EXPECT_TRUE(IsUnreadable("j.t.id.d", "\xff"));
  const auto binding = std::get<BindingSaid>(read("r.1", WriteBinding({"prod-a", "hash"})));
  EXPECT_EQ(binding.video, "prod-a");
  EXPECT_EQ(binding.spec_hash, "hash");
  EXPECT_TRUE(IsUnreadable("j.t.id.r.1", WriteBinding({"", "hash"})));
}

TEST(LogMessages, BeatsAreReadAsTheyWereWritten) {
  NodeBeat beat{"n1", "h:1", "build", 7, 8, 2, 3, true, {}};
  beat.models.push_back({"ltx", 2, std::string("card\0", 5)});
  beat.prompt_keys = {"0123456789abcdef", "fedcba9876543210"};
  const auto read = ReadBeat(WriteBeat(beat));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(WriteBeat(*read), WriteBeat(beat));
  EXPECT_EQ(read->models[0].card.size(), 5U);
  EXPECT_EQ(read->room, 3);
  EXPECT_EQ(read->prompt_keys, beat.prompt_keys);
  EXPECT_TRUE(read->draining);
  EXPECT_FALSE(ReadBeat("\x0a\xff").has_value());
  EXPECT_FALSE(ReadBeat("").has_value());
}

}  // namespace
}  // namespace reel::front
