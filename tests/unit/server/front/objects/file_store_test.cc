// SPDX-License-Identifier: Apache-2.0
#include "server/front/objects/file_store.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "kernels/base/digest/sha256.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

namespace fs = std::filesystem;

constexpr char kKey[] = "alone/conditions/tenant.a/0123";

// A disk that takes so many bytes.
class SmallDisk final : public FileOps {
 public:
  ssize_t Write(int fd, const void* data, size_t size) override {
    if (size > left) {
      errno = ENOSPC;
      return -1;
    }
    left -= size;
    return FileOps::Write(fd, data, size);
  }
  size_t left = 1 << 30;
};

std::string Noise(size_t size) {
  std::string bytes(size, '\0');
  uint32_t state = 1;
  for (char& byte : bytes) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

class FileStoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<FileStore> Open() {
    auto opened = FileStore::Open(path_, disk_);
    EXPECT_TRUE(opened.ok()) << opened.status();
    return *std::move(opened);
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(path_)) {
      files.push_back(entry.path().filename().string());
    }
    return files;
  }
  static std::vector<std::string> KeysOf(const ObjectPage& page) {
    std::vector<std::string> keys;
    for (const ObjectEntry& entry : page.objects) keys.push_back(entry.key);
    return keys;
  }

  SmallDisk disk_;
  reel::testing::TempFolder folder_{reel::testing::TempFolder::Fast()};
  const std::string path_ = folder_.File("objects");
};

TEST_F(FileStoreTest, KeepsObjectsOverARestartAndReadsAnyPart) {
  const std::string bytes = Noise(300'000);
  ASSERT_TRUE(Open()->PutBytes(kKey, bytes, "image/png").ok());
  const auto store = Open();
  EXPECT_EQ(*store->Get(kKey, 0, 1 << 20), bytes);
  EXPECT_EQ(*store->Get(kKey, 65'530, 20), bytes.substr(65'530, 20));
  EXPECT_EQ(*store->Get(kKey, 299'999, 20), bytes.substr(299'999));
  EXPECT_TRUE(absl::IsOutOfRange(store->Get(kKey, 300'000, 1).status()));
  EXPECT_EQ(store->Head(kKey)->size, 300'000);
  EXPECT_EQ(store->Head(kKey)->sha256, Sha256Hex(bytes));
}

TEST_F(FileStoreTest, TellsItsBytes) {
  ASSERT_TRUE(Open()->PutBytes(kKey, std::string(1000, 'x'), "").ok());
  const auto store = Open();
  EXPECT_EQ(store->OwnBytes(), 1000);
  ASSERT_TRUE(store->PutBytes("alone/other", "12345", "").ok());
  EXPECT_FALSE(store->PutBytes("alone/other", "1234", "").ok());
  EXPECT_EQ(store->OwnBytes(), 1005);
  EXPECT_TRUE(store->Delete(kKey).ok());
  EXPECT_TRUE(store->Delete(kKey).ok());
  EXPECT_EQ(store->OwnBytes(), 5);
}

TEST_F(FileStoreTest, WritesOnce) {
  const auto store = Open();
  ASSERT_TRUE(store->PutBytes(kKey, "first", "").ok());
  EXPECT_TRUE(store->PutBytes(kKey, "first", "").ok());
  EXPECT_TRUE(absl::IsAlreadyExists(store->PutBytes(kKey, "second", "")));
  EXPECT_EQ(*store->Get(kKey, 0, 10), "first");
  EXPECT_TRUE(store->PutBytes("alone/empty", "", "").ok());
  EXPECT_EQ(store->Head("alone/empty")->size, 0);
}

TEST_F(FileStoreTest, TakesFilesWhoseBytesAreTheirs) {
  const std::string bytes = Noise(2'500'000);
  const std::string file = folder_.Write("video.mp4", bytes);
  const auto store = Open();
  EXPECT_TRUE(
      absl::IsDataLoss(store->PutFile(kKey, {file, 2'500'000, Sha256Hex("others"), "video/mp4"})));
  EXPECT_TRUE(absl::IsNotFound(store->Head(kKey).status()));
  EXPECT_TRUE(Files().empty());
  ASSERT_TRUE(store->PutFile(kKey, {file, 2'500'000, Sha256Hex(bytes), "video/mp4"}).ok());
  EXPECT_EQ(*store->Get(kKey, 1'000'000, 1'000'000), bytes.substr(1'000'000, 1'000'000));
}

TEST_F(FileStoreTest, NamesOfFilesAreHashesAndBadKeysAreRefused) {
  const auto store = Open();
  ASSERT_TRUE(store->PutBytes(kKey, "x", "").ok());
  for (const std::string& name : Files()) EXPECT_EQ(name.find(Sha256Hex(kKey)), 0U) << name;
  for (const char* const bad : {"", "/etc/passwd", "a/../b", "a b", "a/", "a\nb"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(store->PutBytes(bad, "x", ""))) << bad;
    EXPECT_TRUE(absl::IsInvalidArgument(store->Get(bad, 0, 1).status())) << bad;
    EXPECT_TRUE(absl::IsInvalidArgument(store->Delete(bad))) << bad;
  }
}

TEST_F(FileStoreTest, ListsByPrefixInOrder) {
  const auto store = Open();
  for (const char* const key : {"b/2", "a/1", "b/10", "c/1", "b/1"}) {
    ASSERT_TRUE(store->PutBytes(key, key, "").ok());
  }
  using Keys = std::vector<std::string>;
  EXPECT_EQ(KeysOf(*store->List("b/", "")), (Keys{"b/1", "b/10", "b/2"}));
  EXPECT_EQ(KeysOf(*store->List("b/", "b/1")), (Keys{"b/10", "b/2"}));
  EXPECT_EQ(KeysOf(*store->List("", "b/2")), Keys{"c/1"});
  const ObjectPage page = *store->List("a/", "");
  EXPECT_EQ(page.objects[0].size, 3);
  EXPECT_LT(absl::AbsDuration(absl::Now() - page.objects[0].changed), absl::Hours(1));
  for (int i = 0; i < 1001; ++i) {
    ASSERT_TRUE(store->PutBytes(absl::StrCat("many/", 1000 + i), "", "").ok());
  }
  EXPECT_EQ(store->List("many/", "")->objects.size(), 1000U);
  EXPECT_TRUE(store->List("many/", "")->more);
  EXPECT_EQ(KeysOf(*store->List("many/", "many/1999")), Keys{"many/2000"});
}

TEST_F(FileStoreTest, DamageIsToldAndNothingDamagedLeaves) {
  const std::string bytes = Noise(200'000);
  const auto store = Open();
  ASSERT_TRUE(store->PutBytes(kKey, bytes, "").ok());
  std::string damaged = bytes;
  damaged[100'000] ^= 1;
  folder_.Write("objects/" + Sha256Hex(kKey), damaged);
  EXPECT_EQ(*store->Get(kKey, 0, 1000), bytes.substr(0, 1000));
  EXPECT_TRUE(absl::IsDataLoss(store->Get(kKey, 90'000, 20'000).status()));
  fs::resize_file(path_ + "/" + Sha256Hex(kKey), 1000);
  EXPECT_TRUE(absl::IsDataLoss(store->Get(kKey, 0, 10).status()));
}

TEST_F(FileStoreTest, DeletedObjectsAreGoneAndMayBePutAgain) {
  const auto store = Open();
  ASSERT_TRUE(store->PutBytes(kKey, "first", "").ok());
  EXPECT_TRUE(store->Delete(kKey).ok());
  EXPECT_TRUE(store->Delete(kKey).ok());
  EXPECT_TRUE(Files().empty());
  EXPECT_TRUE(absl::IsNotFound(store->Get(kKey, 0, 1).status()));
  ASSERT_TRUE(store->PutBytes(kKey, "second", "").ok());
  EXPECT_EQ(*Open()->Get(kKey, 0, 10), "second");
}

// At each length of what was written last.
TEST_F(FileStoreTest, ACrashLeavesAnObjectOrNothing) {
  ASSERT_TRUE(Open()->PutBytes(kKey, "bytes", "").ok());
  const std::string name = Sha256Hex(kKey);
  const std::string facts = folder_.Read("objects/" + name + ".facts");
  for (size_t length = 0; length <= facts.size(); ++length) {
    fs::remove(path_ + "/" + name + ".facts");
    folder_.Write("objects/" + name, "bytes");
    folder_.Write("objects/" + name + ".new", facts.substr(0, length));
    const auto store = Open();
    EXPECT_TRUE(Files().empty());
    EXPECT_TRUE(absl::IsNotFound(store->Head(kKey).status()));
  }
  // Facts that a disk has damaged are not believed, and can be written again.
  folder_.Write("objects/" + name, "bytes");
  folder_.Write("objects/" + name + ".facts", facts.substr(0, facts.size() - 1));
  const auto store = Open();
  EXPECT_TRUE(absl::IsNotFound(store->Head(kKey).status()));
  EXPECT_EQ(Files().size(), 2U);
  EXPECT_TRUE(store->PutBytes(kKey, "other", "").ok());
  EXPECT_EQ(*store->Get(kKey, 0, 10), "other");
}

TEST_F(FileStoreTest, AFullDiskLeavesNothingBehind) {
  const auto store = Open();
  for (disk_.left = 0; disk_.left < 300; disk_.left += 7) {
    const size_t left = disk_.left;
    const absl::Status put = store->PutBytes(kKey, std::string(100, 'x'), "");
    disk_.left = left;
    if (put.ok()) break;
    EXPECT_TRUE(absl::IsResourceExhausted(put)) << put;
    EXPECT_TRUE(Files().empty());
  }
  disk_.left = 1 << 20;
  EXPECT_TRUE(store->PutBytes(kKey, std::string(100, 'x'), "").ok());
}

TEST_F(FileStoreTest, RacersForOneKeyHaveOneWinnerAndReadersSeeItWhole) {
  const auto store = Open();
  std::vector<std::thread> racers;
  for (int i = 0; i < 4; ++i) {
    racers.emplace_back([&, i] {
      const std::string bytes(100'000, static_cast<char>('a' + i));
      for (int round = 0; round < 20; ++round) {
        const std::string key = absl::StrCat("race/", round);
        const absl::Status put = store->PutBytes(key, bytes, "");
        EXPECT_TRUE(put.ok() || absl::IsAlreadyExists(put)) << put;
        const auto got = store->Get(key, 0, 200'000);
        ASSERT_TRUE(got.ok()) << got.status();
        EXPECT_EQ(*got, std::string(100'000, got->front()));
        EXPECT_EQ(put.ok(), *got == bytes);
      }
    });
  }
  for (std::thread& racer : racers) racer.join();
}

TEST_F(FileStoreTest, CallsAfterAStopAreCancelled) {
  const auto store = Open();
  store->Stop();
  EXPECT_TRUE(absl::IsCancelled(store->PutBytes(kKey, "x", "")));
  EXPECT_TRUE(absl::IsCancelled(store->Get(kKey, 0, 1).status()));
  EXPECT_TRUE(absl::IsCancelled(store->List("", "").status()));
}

}  // namespace
}  // namespace reel::front
