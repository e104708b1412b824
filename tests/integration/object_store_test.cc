// SPDX-License-Identifier: Apache-2.0
// The client of object stores against a real one.
#include <gtest/gtest.h>

#include <iostream>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "kernels/base/digest/sha256.h"
#include "server/front/objects/s3_store.h"
#include "tests/integration/s3_server.h"
#include "tests/integration/small_disk.h"

namespace reel::tests {
namespace {

using front::ObjectPage;
using front::S3Options;
using front::S3Store;

class ObjectStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (S3ServerPath().empty()) {
      GTEST_SKIP() << "SKIPPED: no versitygw here; deploy/build/setup --fleet installs it";
    }
  }
  static std::unique_ptr<S3Store> Open(const S3Server& server, const std::string& bucket = "reel") {
    return std::make_unique<S3Store>(
        S3Options{server.endpoint(), bucket, "us-east-1", server.credentials_file()});
  }
  static std::string Noise(size_t size) {
    std::string bytes(size, '\0');
    uint32_t state = 1;
    for (char& byte : bytes) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    return bytes;
  }

  testing::TempFolder files_;
};

TEST_F(ObjectStoreTest, AFileComesBackInAnyRange) {
  S3Server server;
  const auto store = Open(server);
  const std::string bytes = Noise(9 << 20);
  const std::string path = files_.Write("video.mp4", bytes);
  const std::string key = "media/tenant.a/prod-0123/1.mp4";
  const absl::Time began = absl::Now();
  ASSERT_TRUE(store->PutFile(key, {path, 9 << 20, Sha256Hex(bytes), "video/mp4"}).ok());
  const absl::Time written = absl::Now();
  for (int64_t offset = 0; offset < 9 << 20; offset += 1 << 20) {
    const auto part = store->Get(key, offset, 1 << 20);
    ASSERT_TRUE(part.ok()) << part.status();
    ASSERT_EQ(*part, bytes.substr(static_cast<size_t>(offset), 1 << 20)) << offset;
  }
  std::cout << "FIGURE 9 MiB written in " << written - began << ", read in 9 ranges in "
            << absl::Now() - written << "\n";
  EXPECT_EQ(*store->Get(key, (9 << 20) - 7, 1000), bytes.substr((9 << 20) - 7));
  EXPECT_TRUE(absl::IsOutOfRange(store->Get(key, 9 << 20, 1).status()));
  const auto facts = store->Head(key);
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->size, 9 << 20);
  EXPECT_EQ(facts->sha256, Sha256Hex(bytes));
}

TEST_F(ObjectStoreTest, AKeyIsWrittenOnceWhoeverTries) {
  S3Server server;
  const auto store = Open(server);
  EXPECT_TRUE(store->PutBytes("media/a", "one", "").ok());
  EXPECT_TRUE(store->PutBytes("media/a", "one", "").ok());
  EXPECT_TRUE(absl::IsAlreadyExists(store->PutBytes("media/a", "two", "")));
  EXPECT_EQ(server.Read("media/a"), "one");
  // What is not what its hash says never becomes an object.
  const std::string path = files_.Write("other", "abc");
  EXPECT_TRUE(absl::IsDataLoss(store->PutFile("media/b", {path, 3, Sha256Hex("abd"), ""})));
  EXPECT_TRUE(absl::IsNotFound(store->Get("media/b", 0, 3).status()));
  // Of eight at once one wins, and the others hear it.
  std::vector<std::thread> writers;
  std::atomic<int> won = 0;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([&, i] {
      const absl::Status put = store->PutBytes("media/c", absl::StrCat("writer ", i), "");
      won += put.ok() ? 1 : 0;
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(won, 1);
}

TEST_F(ObjectStoreTest, ListsWhatIsBelowAPrefixPageByPageAndDeletesIt) {
  S3Server server;
  const auto store = Open(server);
  std::set<std::string> keys;
  for (int i = 0; i < 40; ++i) keys.insert(absl::StrCat("media/t/v", i, "/1.mp4"));
  for (const std::string& key : keys) ASSERT_TRUE(store->PutBytes(key, key, "").ok());
  ASSERT_TRUE(store->PutBytes("conditions/t/x", "x", "").ok());
  const auto page = store->List("media/", "");
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_FALSE(page->more);
  std::set<std::string> listed;
  for (const auto& object : page->objects) {
    listed.insert(object.key);
    EXPECT_EQ(object.size, static_cast<int64_t>(object.key.size()));
    EXPECT_LT(absl::AbsDuration(object.changed - absl::Now()), absl::Minutes(2));
  }
  EXPECT_EQ(listed, keys);
  const std::string middle = page->objects[20].key;
  const auto rest = store->List("media/", middle);
  ASSERT_TRUE(rest.ok()) << rest.status();
  ASSERT_EQ(rest->objects.size(), 19U);
  EXPECT_GT(rest->objects[0].key, middle);
  EXPECT_TRUE(store->Delete(middle).ok());
  EXPECT_TRUE(store->Delete(middle).ok());
  EXPECT_TRUE(absl::IsNotFound(store->Get(middle, 0, 1).status()));
  EXPECT_EQ(store->List("media/", "")->objects.size(), 39U);
}

TEST_F(ObjectStoreTest, SaysWhatIsWrong) {
  S3Server server;
  const auto store = Open(server);
  EXPECT_TRUE(absl::IsFailedPrecondition(Open(server, "other")->List("media/", "").status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(Open(server, "other")->PutBytes("media/a", "x", "")));
  server.WriteCredentials("wrong");
  EXPECT_TRUE(absl::IsPermissionDenied(store->PutBytes("media/a", "x", "")));
  EXPECT_TRUE(absl::IsPermissionDenied(store->List("", "").status()));
  server.WriteCredentials();
  EXPECT_TRUE(store->PutBytes("media/a", "x", "").ok());
  server.Kill();
  EXPECT_TRUE(absl::IsUnavailable(store->PutBytes("media/b", "x", "")));
  server.Start();
  // The connection that was kept is dead, and another is made.
  EXPECT_TRUE(store->PutBytes("media/b", "x", "").ok());
}

TEST_F(ObjectStoreTest, AFullStoreSaysSoAndKeepsNothingHalf) {
  const SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "SKIPPED: no right to mount here";
  S3Server server(disk.path("store"));
  const auto store = Open(server);
  const absl::Status full = store->PutBytes("media/large", Noise(3 << 20), "");
  EXPECT_TRUE(absl::IsResourceExhausted(full)) << full;
  EXPECT_TRUE(absl::IsNotFound(store->Head("media/large").status()));
  EXPECT_TRUE(store->PutBytes("media/small", Noise(100 << 10), "").ok());
}

}  // namespace
}  // namespace reel::tests
