// SPDX-License-Identifier: Apache-2.0
#include "server/front/objects/s3_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "absl/time/clock.h"
#include "kernels/base/digest/sha256.h"
#include "tests/fakes/temp_folder.h"
#include "tests/unit/server/front/objects/scripted_store.h"

namespace reel::front {
namespace {

class S3StoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<S3Store> Open(const std::string& endpoint) {
    const std::string file = folder_.Write("credentials", "thekey:thesecret\n");
    ::chmod(file.c_str(), 0600);
    S3Options options{endpoint, "bucket", "us-east-1", file};
    options.limits = {absl::Seconds(2), absl::Seconds(1), absl::Seconds(5)};
    return std::make_unique<S3Store>(options);
  }
  // What a store that answers so is told to be.
  absl::Status Told(const ScriptedAnswer& answer) {
    ScriptedStore server({answer});
    return Open(server.endpoint())->Get("media/t/v/1.mp4", 0, 10).status();
  }

  reel::testing::TempFolder folder_;
};

TEST_F(S3StoreTest, SignsWhatItAsksAndTellsNoSecret) {
  ScriptedStore server({Answering(206, "abcdefghij")});
  const auto store = Open(server.endpoint());
  EXPECT_EQ(*store->Get("media/t/v/1.mp4", 5, 10), "abcdefghij");
  const std::string request = server.Requests().at(0);
  EXPECT_EQ(request.find("GET /bucket/media/t/v/1.mp4 HTTP/1.1\r\n"), 0U) << request;
  EXPECT_NE(request.find("Range: bytes=5-14\r\n"), std::string::npos) << request;
  EXPECT_NE(request.find("AWS4-HMAC-SHA256 Credential=thekey/"), std::string::npos) << request;
  EXPECT_NE(request.find("x-amz-content-sha256: " + Sha256Hex("")), std::string::npos) << request;
  EXPECT_EQ(request.find("thesecret"), std::string::npos) << request;
}

TEST_F(S3StoreTest, WritesOnceWithTheHashOfTheFile) {
  ScriptedStore server({Answering(200, "")});
  const std::string path = folder_.Write("video", "frames");
  EXPECT_TRUE(Open(server.endpoint())
                  ->PutFile("media/t/v/1.mp4", {path, 6, Sha256Hex("frames"), "video/mp4"})
                  .ok());
  const std::string request = server.Requests().at(0);
  EXPECT_EQ(request.find("PUT /bucket/media/t/v/1.mp4 HTTP/1.1\r\n"), 0U) << request;
  for (const std::string& field :
       {std::string("If-None-Match: *"), "x-amz-content-sha256: " + Sha256Hex("frames"),
        "x-amz-meta-sha256: " + Sha256Hex("frames"), std::string("Content-Type: video/mp4")}) {
    EXPECT_NE(request.find(field + "\r\n"), std::string::npos) << field << "\n" << request;
  }
  EXPECT_EQ(request.substr(request.size() - 6), "frames");
}

TEST_F(S3StoreTest, AWriteWhoseAnswerWasLostIsFoundDone) {
  const std::string same = "x-amz-meta-sha256: " + Sha256Hex("frames") + "\r\n";
  ScriptedStore server({{"", false},
                        Answering(412, ""),
                        {"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n" + same + "\r\n"},
                        Answering(412, ""),
                        {"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n" + same + "\r\n"}});
  const auto store = Open(server.endpoint());
  EXPECT_TRUE(absl::IsUnavailable(store->PutBytes("media/a", "frames", "")));
  EXPECT_TRUE(store->PutBytes("media/a", "frames", "").ok());
  EXPECT_TRUE(absl::IsAlreadyExists(store->PutBytes("media/a", "frames", "")));
}

// A store that sees by the head that the object is there refuses and hangs up; where bytes are
// still on their way its answer is lost with the connection.
TEST_F(S3StoreTest, AWriteThatWasHungUpOnIsFoundDone) {
  const std::string bytes(16 << 20, 'x');
  const auto head = [](size_t size, const std::string& hashed) {
    return ScriptedAnswer{absl::StrCat("HTTP/1.1 200 OK\r\nContent-Length: ", size,
                                       "\r\nx-amz-meta-sha256: ", Sha256Hex(hashed), "\r\n\r\n")};
  };
  const ScriptedAnswer hangs_up{.bytes = "", .early = true};
  ScriptedStore server({hangs_up, head(bytes.size(), bytes), hangs_up, head(5, "other"), hangs_up,
                        Answering(404, "")});
  const auto store = Open(server.endpoint());
  EXPECT_TRUE(store->PutBytes("media/a", bytes, "").ok());
  EXPECT_TRUE(absl::IsAlreadyExists(store->PutBytes("media/a", bytes, "")));
  EXPECT_TRUE(absl::IsUnavailable(store->PutBytes("media/a", bytes, "")));
  EXPECT_EQ(server.Requests().size(), 6U);
}

TEST_F(S3StoreTest, TellsRefusalsApart) {
  const auto coded = [](int status, const std::string& code) {
    return Answering(status, "<?xml version=\"1.0\"?><Error><Code>" + code + "</Code></Error>");
  };
  EXPECT_TRUE(absl::IsPermissionDenied(Told(coded(403, "SignatureDoesNotMatch"))));
  EXPECT_TRUE(absl::IsPermissionDenied(Told(coded(404, "XAdminUserNotFound"))));
  EXPECT_TRUE(absl::IsFailedPrecondition(Told(coded(404, "NoSuchBucket"))));
  EXPECT_TRUE(absl::IsNotFound(Told(coded(404, "NoSuchKey"))));
  EXPECT_TRUE(absl::IsResourceExhausted(Told(coded(507, "XMinioStorageFull"))));
  EXPECT_TRUE(absl::IsOutOfRange(Told(coded(416, "InvalidRange"))));
  EXPECT_TRUE(absl::IsUnavailable(Told(coded(500, "InternalError"))));
  EXPECT_TRUE(absl::IsUnavailable(Told(coded(503, "SlowDown"))));
  EXPECT_TRUE(absl::IsDataLoss(Told(coded(400, "XAmzContentSHA256Mismatch"))));
}

TEST_F(S3StoreTest, TakesNoMoreAndNoLessThanAnHonestAnswer) {
  EXPECT_TRUE(absl::IsUnavailable(Told(Answering(206, std::string(1 << 20, 'x')))));
  EXPECT_TRUE(absl::IsUnavailable(Told(Answering(206, std::string(11, 'x')))));
  // Cut off in the middle, no HTTP, nothing at all.
  EXPECT_TRUE(absl::IsUnavailable(Told({"HTTP/1.1 206 P\r\nContent-Length: 10\r\n\r\nabc"})));
  EXPECT_TRUE(absl::IsUnavailable(Told({"nonsense\r\n\r\n"})));
  EXPECT_TRUE(absl::IsUnavailable(Told({""})));
  // From the start of the object, where the middle was asked for.
  ScriptedStore server({Answering(200, "abcdefghij")});
  EXPECT_TRUE(absl::IsUnavailable(Open(server.endpoint())->Get("media/a", 5, 10).status()));
}

TEST_F(S3StoreTest, GivesUpOnAStoreThatIsSilentOrAway) {
  const absl::Time began = absl::Now();
  EXPECT_TRUE(absl::IsUnavailable(Told({"HTTP/1.1 206 P\r\nContent-Length: 10\r\n\r\nabc", true})));
  EXPECT_TRUE(absl::IsUnavailable(Told({"", true})));
  EXPECT_LT(absl::Now() - began, absl::Seconds(30));
  std::string endpoint;
  {
    endpoint = ScriptedStore({Answering(200, "")}).endpoint();
  }
  const absl::Status away = Open(endpoint)->Delete("media/a");
  EXPECT_TRUE(absl::IsUnavailable(away)) << away;
  EXPECT_NE(away.message().find(endpoint), std::string::npos) << away;
}

TEST_F(S3StoreTest, StopEndsWhatIsUnderWay) {
  ScriptedStore server({{"HTTP/1.1 206 P\r\nContent-Length: 10\r\n\r\nabc", true}});
  const std::string file = folder_.Write("slow", "thekey:thesecret\n");
  ::chmod(file.c_str(), 0600);
  S3Store store({server.endpoint(), "bucket", "us-east-1", file});  // would wait for long
  std::thread stopper([&] {
    while (server.Requests().empty()) std::this_thread::yield();
    store.Stop();
  });
  const absl::Time began = absl::Now();
  EXPECT_TRUE(absl::IsCancelled(store.Get("media/a", 0, 10).status()));
  EXPECT_LT(absl::Now() - began, absl::Seconds(10));
  stopper.join();
  EXPECT_TRUE(absl::IsCancelled(store.Delete("media/a")));
}

TEST_F(S3StoreTest, AsksOnlyForKeysThatNeedNoEncoding) {
  ScriptedStore server({Answering(200, "")});
  const auto store = Open(server.endpoint());
  for (const char* key : {"", "/a", "a/", "a//b", "../a", "a/../b", "a/.b", "a b", "a%2Fb", "a?b",
                          "\xC3\xBC", "a+b"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(store->Delete(key))) << key;
    EXPECT_TRUE(absl::IsInvalidArgument(store->PutBytes(key, "x", ""))) << key;
  }
  EXPECT_TRUE(server.Requests().empty());
  EXPECT_TRUE(store->Delete("media/t.a/prod-1_2~3/1.mp4").ok());
}

TEST_F(S3StoreTest, AFileThatIsNotAsSaidIsNotSent) {
  ScriptedStore server({Answering(200, "")});
  const auto store = Open(server.endpoint());
  const std::string path = folder_.Write("video", "frames");
  EXPECT_TRUE(absl::IsDataLoss(store->PutFile("media/a", {path, 7, Sha256Hex("frames"), ""})));
  EXPECT_TRUE(absl::IsDataLoss(store->PutFile("media/a", {path + "x", 6, "", ""})));
  EXPECT_TRUE(server.Requests().empty());
}

}  // namespace
}  // namespace reel::front
