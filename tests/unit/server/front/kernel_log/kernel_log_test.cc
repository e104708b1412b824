// SPDX-License-Identifier: Apache-2.0
#include "server/front/kernel_log/kernel_log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kernels/base/mutex.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;

// What comes of the lines that it is told of; thread-safe.
class Lines {
 public:
  KernelLog::OnLine Taker() {
    return [this](std::string_view line) {
      MutexLock lock(mutex_);
      lines_.emplace_back(line);
      changed_.NotifyAll();
    };
  }
  std::vector<std::string> Await(size_t count) {
    MutexLock lock(mutex_);
    while (lines_.size() < count) changed_.Wait(mutex_);
    return lines_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mutex_);
};

class KernelLogTest : public ::testing::Test {
 protected:
  static void Append(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::app) << text;
  }

  reel::testing::TempFolder folder_;
  Lines lines_;
};

TEST_F(KernelLogTest, TellsWhatAFileGrowsByAndNothingOlder) {
  const std::string path = folder_.Write("kern.log", "of yesterday\n");
  const auto log = KernelLog::Follow(path, lines_.Taker());
  ASSERT_TRUE(log.ok()) << log.status();
  Append(path, "one\ntw");
  Append(path, "o\nthree\n");
  EXPECT_THAT(lines_.Await(3), ElementsAre("one", "two", "three"));
}

// As /dev/kmsg, it is readable when there is something.
TEST_F(KernelLogTest, TellsWhatComesThroughAPipeAtOnce) {
  const std::string path = folder_.File("kmsg");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const FileDescriptor end(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  const auto log = KernelLog::Follow(path, lines_.Taker());
  ASSERT_TRUE(log.ok()) << log.status();
  for (const std::string& record :
       {std::string("6,1,2,-;first\n"), std::string("3,2,5,-;second\n")}) {
    EXPECT_EQ(::write(end.get(), record.data(), record.size()), std::ssize(record));
  }
  EXPECT_THAT(lines_.Await(2), ElementsAre("6,1,2,-;first", "3,2,5,-;second"));
}

TEST_F(KernelLogTest, KeepsLittleOfALineWithoutEnd) {
  const std::string path = folder_.Write("kern.log", "");
  const auto log = KernelLog::Follow(path, lines_.Taker());
  ASSERT_TRUE(log.ok()) << log.status();
  Append(path, std::string(3 << 20, 'x') + "\nnext\n");
  const auto lines = lines_.Await(2);
  EXPECT_EQ(lines[0].size(), size_t{16} << 10);
  EXPECT_EQ(lines[1], "next");
}

TEST_F(KernelLogTest, SaysThatItMayNotBeRead) {
  EXPECT_TRUE(absl::IsNotFound(KernelLog::Follow(folder_.File("none"), lines_.Taker()).status()));
}

}  // namespace
}  // namespace reel::front
