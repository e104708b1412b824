// SPDX-License-Identifier: Apache-2.0
// Files that are sent ahead of requests: whole or not at all, by their hash, a tenant's own, for a
// day.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "kernels/base/digest/sha256.h"
#include "server/errors/error.h"
#include "tests/fakes/memory_objects.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string ClipOf(size_t bytes) { return "1234ftyp" + std::string(bytes - 8, 'x'); }

class FilesTest : public FleetFixture {
 protected:
  using Begun = std::unique_ptr<FileUpload>;

  FilesTest() { objects_ = &store_; }
  ~FilesTest() override { members_.clear(); }

  static absl::StatusOr<Begun> Begin(Member& at, int64_t size, const std::string& tenant = "t") {
    return Await<Begun>([&](auto done) { at.service->BeginFile(tenant, size, std::move(done)); });
  }
  static absl::Status Append(FileUpload& upload, const std::string& bytes) {
    return AwaitStatus([&](auto done) { upload.Append(bytes, std::move(done)); });
  }
  static absl::StatusOr<UploadedFile> Finish(FileUpload& upload, const std::string& sha256 = "") {
    return Await<UploadedFile>([&](auto done) { upload.Finish(sha256, std::move(done)); });
  }
  static absl::StatusOr<UploadedFile> Send(Member& at, const std::string& bytes,
                                           const std::string& tenant = "t") {
    absl::StatusOr<Begun> upload = Begin(at, std::ssize(bytes), tenant);
    if (!upload.ok()) return upload.status();
    const size_t half = bytes.size() / 2;
    for (const std::string& piece : {bytes.substr(0, half), bytes.substr(half)}) {
      if (const absl::Status taken = Append(**upload, piece); !taken.ok()) return taken;
    }
    return Finish(**upload);
  }
  static NewJob Naming(Member& at, const std::string& name) {
    NewJob job = at.Request();
    job.spec.conditions.resize(1);
    job.spec.conditions[0].file = name;
    return job;
  }
  static std::string NameOf(const std::string& bytes) { return "files/" + Sha256Hex(bytes); }
  // Files that are not whole, on the server's disk.
  static int OnTheWay(Member& at) {
    int count = 0;
    for (const auto& file : std::filesystem::directory_iterator(at.folder.File("uploads"))) {
      count += file.is_regular_file() ? 1 : 0;
    }
    return count;
  }
  // What it was answered with; an expectation fails where it went well.
  template <typename T>
  static std::string Why(const absl::StatusOr<T>& answer, Reason reason) {
    EXPECT_EQ(ReasonOf(answer.status()), reason) << answer.status();
    return std::string(answer.status().message());
  }

  // The fields that the error is about.
  static std::vector<std::string> FieldsOf(const absl::Status& error) {
    google::rpc::Status message;
    EXPECT_TRUE(message.ParseFromString(SerializeError(error)));
    std::vector<std::string> fields;
    google::rpc::BadRequest bad;
    for (const auto& detail : message.details()) {
      if (!detail.UnpackTo(&bad)) continue;
      for (const auto& violation : bad.field_violations()) fields.push_back(violation.field());
    }
    return fields;
  }

  reel::testing::MemoryObjects store_;
};

TEST_F(FilesTest, AFileComesInPiecesAndReachesWhoRendersWhatNamesIt) {
  Member& gateway = Add("gateway", false);
  const std::string clip = ClipOf(5 << 20);  // more than a message holds
  const auto file = Send(gateway, clip);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->name, NameOf(clip));
  EXPECT_EQ(file->content_type, "video/mp4");
  EXPECT_EQ(file->size_bytes, std::ssize(clip));
  EXPECT_GT(file->expire_time, gateway.service->clock().Wall() + absl::Hours(24));
  EXPECT_TRUE(Comes([&] { return OnTheWay(gateway) == 0; }));
  gateway.MustAsk(Naming(gateway, file->name));
  Member& b = Add("b");
  ASSERT_EQ(WhoRuns(), &b);
  const Sent sent = b.Take();
  ASSERT_EQ(sent.assignment.spec.conditions.size(), 1U);
  const model::Condition& condition = sent.assignment.spec.conditions[0];
  EXPECT_EQ(condition.kind, model::Condition::Kind::kVideo);
  EXPECT_EQ(condition.content_type, "video/mp4");
  EXPECT_EQ(condition.sha256, Sha256Hex(clip));
  ASSERT_NE(condition.bytes, nullptr);
  EXPECT_TRUE(*condition.bytes == clip);
}

TEST_F(FilesTest, WhatAFileIsItsBytesTellAndAnMp4MayBeASound) {
  Member& a = Add("a");
  const auto kind = [&](const std::string& bytes, const std::string& said) {
    const auto file = Send(a, bytes);
    EXPECT_TRUE(file.ok()) << file.status();
    NewJob job = Naming(a, NameOf(bytes));
    job.spec.conditions[0].content_type = said;
    const auto video =
        Await<Video>([&](auto done) { a.service->Validate(std::move(job), std::move(done)); });
    if (!video.ok()) return std::string(video.status().message());
    return std::string(model::FieldOf(video->spec.conditions[0].kind)) + " " +
           video->spec.conditions[0].content_type;
  };
  EXPECT_EQ(kind("\x89PNG\r\n\x1a\nmore", ""), "image image/png");
  EXPECT_EQ(kind(ClipOf(20), ""), "video video/mp4");
  EXPECT_THAT(kind(ClipOf(20), "audio/mp4"), HasSubstr("conditions[0].audio"));  // it has no sound
  EXPECT_THAT(kind("fLaC and more", ""), HasSubstr("conditions[0].audio"));
  EXPECT_THAT(kind(ClipOf(20), "image/png"), HasSubstr("video/mp4"));  // is told what it is
}

TEST_F(FilesTest, TheSameBytesAreOneFileOfTheirTenantAlone) {
  Member& a = Add("a");
  const std::string clip = ClipOf(1000);
  ASSERT_EQ(Send(a, clip)->name, NameOf(clip));
  ASSERT_EQ(Send(a, clip)->name, NameOf(clip));
  EXPECT_EQ(store_.All().size(), 2U);  // its bytes, and what tells of them
  NewJob foreign = Naming(a, NameOf(clip));
  foreign.tenant = "another";
  const std::string why = Why(a.Ask(foreign), Reason::kFileNotFound);
  EXPECT_EQ(why, Why(a.Ask(Naming(a, NameOf("none"))), Reason::kFileNotFound)
                     .replace(why.size() - 64, 64, Sha256Hex(clip)));
  ASSERT_TRUE(Send(a, clip, "another").ok());
  EXPECT_TRUE(a.Ask(foreign).ok());
}

TEST_F(FilesTest, OneThatIsNotThereIsNamedByTheConditionThatNamesItHoweverOneAsks) {
  Member& a = Add("a");
  const std::string clip = ClipOf(1000);
  ASSERT_TRUE(Send(a, clip).ok());
  const auto second_is = [&](const std::string& bytes) {
    NewJob job = Naming(a, NameOf(clip));
    job.spec.conditions.resize(2);
    job.spec.conditions[1].file = NameOf(bytes);
    return job;
  };
  EXPECT_THAT(FieldsOf(a.Ask(Naming(a, NameOf("none"))).status()),
              ElementsAre("spec.conditions[0].file"));
  const auto second = ElementsAre("spec.conditions[1].file");
  const auto made = a.Ask(second_is("none"));
  Why(made, Reason::kFileNotFound);
  EXPECT_THAT(FieldsOf(made.status()), second);
  const auto video =
      Await<Video>([&](auto done) { a.service->Validate(second_is("none"), std::move(done)); });
  Why(video, Reason::kFileNotFound);
  EXPECT_THAT(FieldsOf(video.status()), second);
  const auto estimate = Await<CostEstimate>(
      [&](auto done) { a.service->Estimate(second_is("none"), std::move(done)); });
  Why(estimate, Reason::kFileNotFound);
  EXPECT_THAT(FieldsOf(estimate.status()), second);
  // One that is said to be there, and whose bytes are lost.
  const std::string lost = ClipOf(2000);
  ASSERT_TRUE(Send(a, lost).ok());
  for (const auto& [key, bytes] : store_.All()) {
    if (bytes == lost) {
      ASSERT_TRUE(store_.Delete(key).ok());
    }
  }
  const auto gone = a.Ask(second_is(lost));
  Why(gone, Reason::kFileNotFound);
  EXPECT_THAT(FieldsOf(gone.status()), second);
}

TEST_F(FilesTest, WhatIsNotAsItWasSaidLeavesNothing) {
  Member& a = Add("a");
  const std::string clip = ClipOf(100);
  {
    auto more = Begin(a, 99);
    const absl::Status refused = Append(**more, clip);
    EXPECT_EQ(ReasonOf(refused), Reason::kInvalidRequest);
    EXPECT_THAT(std::string(refused.message()), HasSubstr("99 were said, at least 100 came"));
    auto less = Begin(a, 101);
    EXPECT_TRUE(Append(**less, clip).ok());
    EXPECT_THAT(Why(Finish(**less), Reason::kInvalidRequest), HasSubstr("101 were said, 100 came"));
    auto hash = Begin(a, 100);
    EXPECT_TRUE(Append(**hash, clip).ok());
    EXPECT_THAT(Why(Finish(**hash, Sha256Hex("another")), Reason::kInvalidRequest),
                HasSubstr(Sha256Hex(clip)));
    EXPECT_THAT(Why(Send(a, "no file of a kind"), Reason::kInvalidRequest), HasSubstr("data"));
    auto given_up = Begin(a, 100);
    EXPECT_TRUE(Append(**given_up, clip.substr(0, 50)).ok());
  }
  EXPECT_TRUE(Comes([&] { return OnTheWay(a) == 0; }));
  EXPECT_TRUE(store_.All().empty());
  EXPECT_THAT(Why(Begin(a, 0), Reason::kInvalidRequest), HasSubstr("the nearest is 1"));
  EXPECT_THAT(Why(Begin(a, (int64_t{64} << 20) + 1), Reason::kInvalidRequest),
              HasSubstr("must be 1 to 67108864"));
}

TEST_F(FilesTest, WhatAProcessHasLeftHalfSentIsGoneWithTheNext) {
  Member& a = Add("a");
  std::ofstream(a.folder.File("uploads/7")) << "half";
  EXPECT_EQ(OnTheWay(a), 1);
  a.Begin();
  EXPECT_EQ(OnTheWay(a), 0);
}

TEST_F(FilesTest, FilesCountInTheBytesOfTheirTenantFromTheirFirstPieceOn) {
  Member& a = Add("a");
  a.options.tenants["t"].max_stored_bytes = 1000;
  a.Begin();
  auto coming = Begin(a, 400);
  ASSERT_TRUE(coming.ok()) << coming.status();
  EXPECT_THAT(Why(Begin(a, 700), Reason::kTenantQuota), HasSubstr("for this file"));
  EXPECT_TRUE(Begin(a, 700, "another").ok());
  ASSERT_TRUE(Append(**coming, ClipOf(400)).ok());
  ASSERT_TRUE(Finish(**coming).ok());
  coming->reset();
  // Whether it is on its way, has just come or was counted: there is no moment in between.
  for (int i = 0; i < 20; ++i) {
    Why(Begin(a, 700), Reason::kTenantQuota);
    Pass(absl::Milliseconds(200));
  }
  EXPECT_TRUE(Begin(a, 500).ok());
  a.Begin();  // and by another process
  EXPECT_TRUE(Comes([&] { return !Begin(a, 700).ok(); }));
}

TEST_F(FilesTest, TooManyOfATenantAtOnceAreRefused) {
  Member& a = Add("a");
  std::vector<Begun> coming;
  for (int i = 0; i < 16; ++i) coming.push_back(*Begin(a, 100));
  EXPECT_THAT(Why(Begin(a, 100), Reason::kTenantQuota), HasSubstr("the limit is 16"));
  EXPECT_TRUE(Begin(a, 100, "another").ok());
  coming.clear();
  EXPECT_TRUE(Comes([&] { return Begin(a, 100).ok(); }));
}

TEST_F(FilesTest, AFileGoesADayAfterItWasSentLast) {
  Member& a = Add("a");
  const std::string clip = ClipOf(1000);
  ASSERT_TRUE(Send(a, clip).ok());
  const auto later = [&](absl::Duration by) {
    a.clock.Advance(by);
    Pass(absl::Seconds(1));
  };
  later(absl::Hours(20));
  ASSERT_TRUE(Send(a, clip).ok());
  later(absl::Hours(20));
  EXPECT_TRUE(a.Ask(Naming(a, NameOf(clip))).ok());
  ASSERT_EQ(WhoRuns(), &a);
  a.RunToEnd(a.Take());
  later(absl::Hours(6));
  Why(a.Ask(Naming(a, NameOf(clip))), Reason::kFileNotFound);
  EXPECT_TRUE(Comes([&] {
    later(absl::Hours(30));
    return store_.All().empty();
  }));
}

TEST_F(FilesTest, AKnownRequestIdIsAnsweredAfterItsFileIsGone) {
  for (const bool alone : {false, true}) {
    SCOPED_TRACE(alone ? "alone" : "in a fleet");
    Member& a = Add(alone ? "alone" : "a", false);
    a.has_own_log = alone;
    a.Begin();
    const std::string clip = ClipOf(1000);
    ASSERT_TRUE(Send(a, clip).ok());
    a.clock.Advance(absl::Hours(20));
    Pass(absl::Seconds(1));
    NewJob job = Naming(a, NameOf(clip));
    job.request_id = "once";
    job.spec_sent = "a clip";
    const std::string id = a.MustAsk(job)->Snapshot().id;
    ASSERT_TRUE(Comes([&] { return a.pool.num_waiting() > 0; }));
    a.RunToEnd(a.Take());
    ASSERT_TRUE(Comes([&] { return a.StateOf(id) == VideoState::kSucceeded; }));
    a.clock.Advance(absl::Hours(6));
    Pass(absl::Seconds(1));
    Why(a.Ask(Naming(a, NameOf(clip))), Reason::kFileNotFound);
    const auto again = a.Ask(job);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ((*again)->Snapshot().id, id);
    NewJob other = job;
    other.spec_sent = "another";
    Why(a.Ask(other), Reason::kRequestIdConflict);
    NewJob fresh = job;
    fresh.request_id = "twice";
    Why(a.Ask(fresh), Reason::kFileNotFound);
    members_.clear();
  }
}

TEST_F(FilesTest, AFileThatIsLostIsSaidToBeGoneBeforeAnythingIsTaken) {
  Member& a = Add("a", false);
  const std::string clip = ClipOf(1000);
  ASSERT_TRUE(Send(a, clip).ok());
  for (const auto& [key, bytes] : store_.All()) {
    if (bytes == clip) {
      ASSERT_TRUE(store_.Delete(key).ok());
    }
  }
  Why(a.Ask(Naming(a, NameOf(clip))), Reason::kFileNotFound);
  ListQuery all;
  all.reach = {"t"};
  EXPECT_TRUE(a.Page(all).empty());
}

TEST_F(FilesTest, AFileIsSealedAndFoundByServersOfTheKey) {
  seal_ = Seal(std::vector<std::string>{std::string(Seal::kKeyBytes, 'a')});
  Member& gateway = Add("gateway", false);
  const std::string clip = ClipOf(1000);
  ASSERT_TRUE(Send(gateway, clip).ok());
  for (const auto& [key, bytes] : store_.All()) {
    EXPECT_EQ(key.find(Sha256Hex(clip)), std::string::npos);
    EXPECT_EQ(bytes.find("ftyp"), std::string::npos);
  }
  Member& b = Add("b");
  b.MustAsk(Naming(b, NameOf(clip)));
  ASSERT_EQ(WhoRuns(), &b);
  EXPECT_EQ(*b.Take().assignment.spec.conditions[0].bytes, clip);
}

TEST_F(FilesTest, AStoreThatIsAwayOrMissingIsSaid) {
  Member& a = Add("a");
  auto upload = Begin(a, 100);
  ASSERT_TRUE(Append(**upload, ClipOf(100)).ok());
  store_.FailWith(absl::UnavailableError("away"));
  Why(Finish(**upload), Reason::kFleetUnavailable);
  Why(a.Ask(Naming(a, NameOf("none"))), Reason::kFleetUnavailable);
  objects_ = nullptr;
  Member& without = Add("without");
  EXPECT_THAT(Why(Begin(without, 100), Reason::kInvalidRequest), HasSubstr("object store"));
  EXPECT_THAT(Why(without.Ask(Naming(without, NameOf("none"))), Reason::kInvalidSpec),
              HasSubstr("object store"));
}

}  // namespace
}  // namespace reel::front
