// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/media_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>

#include "kernels/base/digest/sha256.h"
#include "server/errors/error.h"
#include "server/front/store/media_file.h"
#include "tests/fakes/await.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

using ::reel::testing::Await;
using ::reel::testing::AwaitStatus;

// A disk with so much room, then an error; and settable sizes.
class SmallDisk : public FileOps {
 public:
  ssize_t Write(int fd, const void* data, size_t size) override {
    const int64_t fits = std::min<int64_t>(room, static_cast<int64_t>(size));
    if (fits == 0 && size > 0) {
      errno = error;
      return -1;
    }
    room -= fits;
    return FileOps::Write(fd, data, static_cast<size_t>(fits));
  }
  int Sync(int fd) override {
    if (sync_fails) {
      errno = EIO;
      return -1;
    }
    return FileOps::Sync(fd);
  }
  int DiskBytes(int, int64_t& total, int64_t& available) override {
    total = disk_total;
    available = disk_available;
    return 0;
  }
  std::atomic<int64_t> room = 1 << 30;
  std::atomic<bool> sync_fails = false;
  int error = ENOSPC;
  int64_t disk_total = 1000, disk_available = 500;
};

class MediaStoreTest : public ::testing::Test {
 protected:
  MediaStoreTest() {
    std::filesystem::create_directory(temp_.path() + "/media");
    std::filesystem::create_directory(temp_.path() + "/conditions");
    Open({});
  }
  void Open(MediaStoreOptions options) {
    options.folder = temp_.path();
    store_.reset();
    store_ = *OpenMediaStore(options, disk_);
  }
  absl::StatusOr<int64_t> Append(const std::string& id, int64_t offset, std::string bytes) {
    return Await<int64_t>(
        [&](auto done) { store_->Append(id, 1, offset, std::move(bytes), std::move(done)); });
  }
  absl::StatusOr<MediaDigest> Finish(const std::string& id) {
    return Await<MediaDigest>([&](auto done) { store_->Finish(id, 1, std::move(done)); });
  }
  absl::Status Remove(const std::string& id) {
    return AwaitStatus([&](auto done) { store_->Remove(id, 1, std::move(done)); });
  }
  bool Exists(const std::string& name) {
    return std::filesystem::exists(temp_.path() + "/media/" + name);
  }

  reel::testing::TempFolder temp_;
  SmallDisk disk_;
  std::unique_ptr<MediaStore> store_;
};

TEST_F(MediaStoreTest, HashesWhatItWrites) {
  store_->Begin("a", 1);
  EXPECT_EQ(*Append("a", 0, "hello "), 6);
  EXPECT_EQ(*Append("a", 6, "world"), 11);
  const auto digest = Finish("a");
  ASSERT_TRUE(digest.ok());
  EXPECT_EQ(digest->size, 11);
  EXPECT_EQ(digest->sha256, Sha256Hex("hello world"));
}

TEST_F(MediaStoreTest, ReadsAFileWhileItGrows) {
  store_->Begin("a", 1);
  ASSERT_TRUE(Append("a", 0, "abc").ok());
  const auto reader = store_->Open("a", 1, std::nullopt);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(*(*reader)->Read(1, 100), "bc");
  ASSERT_TRUE(Append("a", 3, "def").ok());
  EXPECT_EQ(*(*reader)->Read(2, 3), "cde");
  EXPECT_EQ(*(*reader)->Read(6, 3), "");
}

TEST_F(MediaStoreTest, KeepsAReaderAliveWhenTheFileGoes) {
  store_->Begin("a", 1);
  ASSERT_TRUE(Append("a", 0, "abc").ok());
  const auto reader = store_->Open("a", 1, std::nullopt);
  ASSERT_TRUE(Remove("a").ok());
  EXPECT_FALSE(Exists("a.1.mp4"));
  EXPECT_EQ(*(*reader)->Read(0, 3), "abc");
}

TEST_F(MediaStoreTest, AFileThatADiskHasNoRoomForLeavesItAlsoWhileItIsRead) {
  store_->Begin("a", 1);
  ASSERT_TRUE(Append("a", 0, "abc").ok());
  const auto reader = store_->Open("a", 1, std::nullopt);
  disk_.error = ENOSPC;
  disk_.room = 1;
  EXPECT_EQ(ReasonOf(Append("a", 3, "def").status()), Reason::kStoreFull);
  EXPECT_EQ(*(*reader)->Read(0, 3), "");
}

TEST_F(MediaStoreTest, RefusesBytesOutOfOrder) {
  store_->Begin("a", 1);
  ASSERT_TRUE(Append("a", 0, "abc").ok());
  EXPECT_EQ(Append("a", 2, "x").status().code(), absl::StatusCode::kInternal);
  EXPECT_FALSE(Exists("a.1.mp4"));
}

TEST_F(MediaStoreTest, DropsBytesForAFileThatTakesNone) {
  EXPECT_EQ(Append("a", 0, "abc").status().code(), absl::StatusCode::kAborted);
  EXPECT_FALSE(Exists("a.1.mp4"));
}

TEST_F(MediaStoreTest, AFullDiskEndsTheFileAndLeavesNothing) {
  for (int error : {ENOSPC, EDQUOT}) {
    disk_.error = error;
    disk_.room = 4;
    store_->Begin("a", 1);
    const auto appended = Append("a", 0, "abcdef");
    EXPECT_EQ(ReasonOf(appended.status()), Reason::kStoreFull) << error;
    EXPECT_FALSE(Exists("a.1.mp4"));
    EXPECT_EQ(store_->Usage().stored_bytes, 0);
    // What comes after it is dropped, and with room again others go on.
    EXPECT_EQ(Append("a", 6, "g").status().code(), absl::StatusCode::kAborted);
    disk_.room = 1 << 20;
    store_->Begin("b", 1);
    EXPECT_TRUE(Append("b", 0, "abc").ok());
    ASSERT_TRUE(Remove("b").ok());
  }
}

TEST_F(MediaStoreTest, AFailedSyncIsNoSuccess) {
  store_->Begin("a", 1);
  ASSERT_TRUE(Append("a", 0, "abc").ok());
  disk_.sync_fails = true;
  EXPECT_EQ(Finish("a").status().code(), absl::StatusCode::kInternal);
  EXPECT_FALSE(Exists("a.1.mp4"));
}

TEST_F(MediaStoreTest, NoticesADamagedOrMissingFile) {
  store_->Begin("a", 1);
  ASSERT_TRUE(Append("a", 0, "abc").ok());
  ASSERT_TRUE(Finish("a").ok());
  EXPECT_TRUE(store_->Open("a", 1, MediaSeal{3, {}}).ok());
  EXPECT_EQ(ReasonOf(store_->Open("a", 1, MediaSeal{4, {}}).status()), Reason::kMediaCorrupt);
  EXPECT_EQ(ReasonOf(store_->Open("b", 1, MediaSeal{4, {}}).status()), Reason::kMediaCorrupt);
}

TEST_F(MediaStoreTest, FollowsNoLinksAndNoStrangeNames) {
  std::ofstream(temp_.path() + "/secret") << "s";
  std::filesystem::create_symlink(temp_.path() + "/secret", temp_.path() + "/media/l.1.mp4");
  EXPECT_FALSE(store_->Open("l", 1, std::nullopt).ok());
  store_->Begin("l", 1);
  EXPECT_FALSE(Append("l", 0, "x").ok());
  for (const char* id : {"../secret", "/etc/passwd", "A", "", "a.b", "a/b"}) {
    EXPECT_FALSE(store_->Open(id, 1, std::nullopt).ok()) << id;
  }
}

TEST_F(MediaStoreTest, FilesAreForTheirOwnerAlone) {
  store_->Begin("a", 1);
  ASSERT_TRUE(Append("a", 0, "abc").ok());
  struct stat info = {};
  ASSERT_EQ(::stat((temp_.path() + "/media/a.1.mp4").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(MediaStoreTest, CountsWhatItHolds) {
  Open({"", 10});
  store_->Begin("a", 1);
  ASSERT_TRUE(Append("a", 0, "abcdef").ok());
  EXPECT_EQ(store_->Usage().stored_bytes, 6);
  EXPECT_FALSE(store_->Usage().full());
  ASSERT_TRUE(Append("a", 6, "abcd").ok());
  EXPECT_TRUE(store_->Usage().full());
  ASSERT_TRUE(Finish("a").ok());
  ASSERT_TRUE(Remove("a").ok());
  EXPECT_EQ(store_->Usage().stored_bytes, 0);
}

TEST_F(MediaStoreTest, ALimitIsALimit) {
  Open({"", 10});
  for (const char* id : {"a", "b"}) store_->Begin(id, 1);
  ASSERT_TRUE(Append("a", 0, "abcdef").ok());
  EXPECT_EQ(ReasonOf(Append("b", 0, "abcdef").status()), Reason::kStoreFull);
  EXPECT_FALSE(Exists("b.1.mp4"));
  EXPECT_EQ(store_->Usage().stored_bytes, 6);
  EXPECT_TRUE(Append("a", 6, "abcd").ok());
}

TEST_F(MediaStoreTest, WithoutALimitTakesNineTenthsOfTheDisk) {
  disk_.disk_total = 1000;
  disk_.disk_available = 150;
  EXPECT_EQ(store_->Usage().limit_bytes, 50);
  EXPECT_EQ(store_->Usage().left_free_bytes, 100);
  disk_.disk_available = 100;
  EXPECT_TRUE(store_->Usage().full());
}

TEST_F(MediaStoreTest, LeavesNoMoreThanItMustOfALargeDisk) {
  disk_.disk_total = int64_t{10} << 40;
  disk_.disk_available = kMostLeftFree + 50;
  EXPECT_EQ(store_->Usage().limit_bytes, 50);
  EXPECT_EQ(store_->Usage().left_free_bytes, kMostLeftFree);
}

TEST_F(MediaStoreTest, ALimitLeavesNothingFree) {
  Open({"", 10});
  EXPECT_EQ(store_->Usage().limit_bytes, 10);
  EXPECT_EQ(store_->Usage().left_free_bytes, 0);
}

TEST_F(MediaStoreTest, RemovesOrphansAndCountsTheRest) {
  for (const char* name : {"keep.2.mp4", "keep.1.mp4", "gone.1.mp4", "junk"}) {
    std::ofstream(temp_.path() + "/media/" + name) << "12345";
  }
  std::ofstream(temp_.path() + "/conditions/keep.0") << "1";
  std::ofstream(temp_.path() + "/conditions/keep.1") << "1";
  const auto conditions = store_->KeepOnly({{"keep", 2, 1}}, absl::Now());
  ASSERT_TRUE(conditions.ok()) << conditions.status();
  EXPECT_EQ(conditions->at("keep"), 1);
  EXPECT_TRUE(Exists("keep.2.mp4"));
  EXPECT_FALSE(Exists("keep.1.mp4"));
  EXPECT_FALSE(Exists("gone.1.mp4"));
  EXPECT_FALSE(Exists("junk"));
  EXPECT_TRUE(std::filesystem::exists(temp_.path() + "/conditions/keep.0"));
  EXPECT_FALSE(std::filesystem::exists(temp_.path() + "/conditions/keep.1"));
  EXPECT_EQ(store_->Usage().stored_bytes, 6);
  // Of a known video nothing is left; what nobody knows is not ours to destroy.
  EXPECT_FALSE(std::filesystem::exists(temp_.path() + "/quarantine/media/keep.1.mp4"));
  EXPECT_EQ(temp_.Read("quarantine/media/gone.1.mp4"), "12345");
  EXPECT_EQ(temp_.Read("quarantine/media/junk"), "12345");
}

TEST_F(MediaStoreTest, ScratchFilesGoAtTheNextStart) {
  const std::string id = std::string(kScratchFile) + "7";
  store_->Begin(id, 1);
  ASSERT_TRUE(Append(id, 0, "12345").ok());
  EXPECT_EQ(temp_.Read("media/" + id + ".1.mp4"), "12345");
  EXPECT_EQ(store_->PathOf(id, 1), temp_.path() + "/media/" + id + ".1.mp4");
  Open({});
  ASSERT_TRUE(store_->KeepOnly({}, absl::Now()).ok());
  EXPECT_FALSE(Exists(id + ".1.mp4"));
  EXPECT_FALSE(std::filesystem::exists(temp_.path() + "/quarantine/media/" + id + ".1.mp4"));
}

TEST_F(MediaStoreTest, AFileComesBackWithItsRow) {
  std::ofstream(temp_.path() + "/media/lost.1.mp4") << "12345";
  ASSERT_TRUE(store_->KeepOnly({}, absl::Now()).ok());
  EXPECT_FALSE(Exists("lost.1.mp4"));
  EXPECT_EQ(store_->Usage().stored_bytes, 0);
  Open({});
  ASSERT_TRUE(store_->KeepOnly({{"lost", 1, 0}}, absl::Now()).ok());
  EXPECT_TRUE(Exists("lost.1.mp4"));
  EXPECT_EQ(store_->Usage().stored_bytes, 5);
}

TEST_F(MediaStoreTest, LeavesFoldersOfOthersAlone) {
  std::filesystem::create_directory(temp_.path() + "/media/lost+found");
  ASSERT_TRUE(store_->KeepOnly({}, absl::Now()).ok());
  EXPECT_TRUE(Exists("lost+found"));
}

TEST_F(MediaStoreTest, StraysMakeRoomForVideos) {
  std::ofstream(temp_.path() + "/media/lost.1.mp4") << "12345";
  Open({"", 10});
  ASSERT_TRUE(store_->KeepOnly({}, absl::Now()).ok());
  store_->Begin("a", 1);
  ASSERT_TRUE(Append("a", 0, "abcde").ok());
  EXPECT_EQ(temp_.Read("quarantine/media/lost.1.mp4"), "12345");
  ASSERT_TRUE(Append("a", 5, "fghij").ok());
  EXPECT_FALSE(std::filesystem::exists(temp_.path() + "/quarantine/media/lost.1.mp4"));
}

TEST_F(MediaStoreTest, ConditionsCountAndAreLimited) {
  Open({"", 10});
  const auto blob = std::make_shared<const std::string>("123456");
  const auto put = [&](const std::string& id) {
    return AwaitStatus([&](auto done) { store_->PutConditions(id, {blob}, std::move(done)); });
  };
  ASSERT_TRUE(put("a").ok());
  EXPECT_EQ(store_->Usage().stored_bytes, 6);
  EXPECT_EQ(ReasonOf(put("b")), Reason::kStoreFull);
  EXPECT_EQ(store_->Usage().stored_bytes, 6);
  store_->RemoveConditions("a", 1);
  EXPECT_TRUE(put("b").ok());
  EXPECT_EQ(store_->Usage().stored_bytes, 6);
}

TEST_F(MediaStoreTest, AFlippedByteNeverLeaves) {
  std::string file(3 * kMediaBlockBytes + 1000, 'x');
  for (size_t i = 0; i < file.size(); ++i) file[i] = static_cast<char>(i * 31 / 7);
  store_->Begin("a", 1);
  // In pieces that are no blocks.
  for (size_t at = 0; at < file.size(); at += 50'000) {
    ASSERT_TRUE(Append("a", static_cast<int64_t>(at), file.substr(at, 50'000)).ok());
  }
  const auto digest = Finish("a");
  ASSERT_TRUE(digest.ok());
  ASSERT_EQ(digest->blocks.size(), 4U);
  const MediaSeal seal{digest->size, digest->blocks};
  const auto whole = store_->Open("a", 1, seal);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(*(*whole)->Read(0, digest->size + 5), file);
  EXPECT_EQ(*(*whole)->Read(kMediaBlockBytes - 3, 7), file.substr(kMediaBlockBytes - 3, 7));
  EXPECT_EQ(*(*whole)->Read(digest->size - 4, 100), file.substr(file.size() - 4));
  EXPECT_EQ(*(*whole)->Read(digest->size, 100), "");
  {
    std::fstream damaged(temp_.path() + "/media/a.1.mp4", std::ios::in | std::ios::out);
    damaged.seekp(kMediaBlockBytes + 10);
    damaged.put(static_cast<char>(file[kMediaBlockBytes + 10] ^ 1));
  }
  const auto reader = store_->Open("a", 1, seal);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(*(*reader)->Read(0, kMediaBlockBytes), file.substr(0, kMediaBlockBytes));
  EXPECT_EQ(ReasonOf((*reader)->Read(2 * kMediaBlockBytes - 5, 1).status()), Reason::kMediaCorrupt);
  EXPECT_TRUE((*reader)->Read(2 * kMediaBlockBytes, 100).ok());
}

TEST_F(MediaStoreTest, KeepsConditionsAllOrNone) {
  const auto blob = [](const char* text) { return std::make_shared<const std::string>(text); };
  const auto put = [&](std::vector<MediaStore::Blob> blobs) {
    return AwaitStatus([&](auto done) { store_->PutConditions("a", blobs, std::move(done)); });
  };
  ASSERT_TRUE(put({blob("one"), blob("two")}).ok());
  const auto read = Await<std::vector<MediaStore::Blob>>(
      [&](auto done) { store_->ReadConditions("a", 2, std::move(done)); });
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read->at(1), "two");

  disk_.room = 4;
  EXPECT_EQ(ReasonOf(put({blob("one"), blob("two")})), Reason::kStoreFull);
  EXPECT_TRUE(std::filesystem::is_empty(temp_.path() + "/conditions"));
}

TEST_F(MediaStoreTest, HoldsAFastWriterBeforeASlowDisk) {
  Open({"", 0, 1000});
  store_->Begin("a", 1);
  Mutex mutex;
  mutex.Lock();  // the media thread waits in the first answer
  store_->Append("a", 1, 0, std::string(900, 'x'), [&](auto) { MutexLock lock(mutex); });
  std::atomic<bool> entered = false;
  std::thread writer([&] {
    store_->Append("a", 1, 900, std::string(900, 'x'), [](auto) {});
    entered = true;
  });
  EXPECT_FALSE(entered);
  mutex.Unlock();
  writer.join();
  EXPECT_EQ(Finish("a")->size, 1800);
}

TEST(MediaStoreBytes, OfOthersInItsFolderCountTowardsTheLimit) {
  const reel::testing::TempFolder temp;
  std::filesystem::create_directory(temp.path() + "/media");
  std::filesystem::create_directory(temp.path() + "/conditions");
  SmallDisk disk;
  std::atomic<int64_t> others = 60;
  MediaStoreOptions options{temp.path(), 100};
  options.other_bytes = [&] { return others.load(); };
  const auto store = *OpenMediaStore(options, disk);
  const auto put = [&](const std::string& id, size_t size) {
    return AwaitStatus([&](auto done) {
      store->PutConditions(id, {std::make_shared<const std::string>(size, 'x')}, std::move(done));
    });
  };
  EXPECT_EQ(store->Usage().stored_bytes, 60);
  EXPECT_EQ(ReasonOf(put("a", 50)), Reason::kStoreFull);
  others = 40;
  EXPECT_TRUE(put("b", 50).ok());
  EXPECT_EQ(store->Usage().stored_bytes, 90);
}

}  // namespace
}  // namespace reel::front
