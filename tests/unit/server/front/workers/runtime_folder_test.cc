// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "server/front/workers/worker_host.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

namespace fs = std::filesystem;

fs::path FolderOf(const RuntimeFolder& folder) { return fs::path(folder.socket()).parent_path(); }

void Touch(const fs::path& path) { std::ofstream(path) << ""; }

// Makes one in a process that is killed, so that it stays.
fs::path LeaveOneBehind(const std::string& base) {
  int pipe_ends[2];
  EXPECT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto folder = RuntimeFolder::Make(base);
    Touch(folder->socket());
    const std::string path = FolderOf(*folder).string();
    if (write(pipe_ends[1], path.data(), path.size()) < 0) _exit(1);
    pause();
  }
  char path[256];
  const ssize_t got = read(pipe_ends[0], path, sizeof path);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  return std::string(path, static_cast<size_t>(std::max<ssize_t>(got, 0)));
}

TEST(RuntimeFolder, IsOursAloneAndGoesWithUs) {
  const testing::TempFolder base;
  fs::path path;
  {
    const auto folder = RuntimeFolder::Make(base.path());
    ASSERT_TRUE(folder.ok()) << folder.status();
    path = FolderOf(*folder);
    Touch(folder->socket());
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(RuntimeFolder, WhatAKilledProcessLeftGoesAtTheNextStart) {
  const testing::TempFolder base;
  const fs::path left = LeaveOneBehind(base.path());
  ASSERT_TRUE(fs::exists(left / "w.sock"));
  const auto folder = RuntimeFolder::Make(base.path());
  EXPECT_FALSE(fs::exists(left));
}

TEST(RuntimeFolder, WhatALivingProcessHoldsStays) {
  const testing::TempFolder base;
  const auto first = RuntimeFolder::Make(base.path());
  Touch(first->socket());
  const auto second = RuntimeFolder::Make(base.path());
  EXPECT_TRUE(first->HasSocket());
}

TEST(RuntimeFolder, FoldersWithOtherThingsInThemStay) {
  const testing::TempFolder base;
  fs::create_directory(base.File("reeld-others"));
  Touch(base.File("reeld-others/letter"));
  fs::create_directory(base.File("reel-abcdef"));
  const auto folder = RuntimeFolder::Make(base.path());
  EXPECT_TRUE(base.Has("reeld-others/letter"));
  EXPECT_TRUE(base.Has("reel-abcdef"));
}

TEST(RuntimeFolder, NoticesThatItsSocketIsGone) {
  const testing::TempFolder base;
  const auto folder = RuntimeFolder::Make(base.path());
  EXPECT_FALSE(folder->HasSocket());
  Touch(folder->socket());
  EXPECT_TRUE(folder->HasSocket());
  fs::remove_all(FolderOf(*folder));
  EXPECT_FALSE(folder->HasSocket());
  fs::create_directory(FolderOf(*folder));  // somebody else's
  Touch(folder->socket());
  EXPECT_FALSE(folder->HasSocket());
}

TEST(RuntimeFolder, ABaseThatCannotBeWrittenIsNotNeeded) {
  const auto folder = RuntimeFolder::Make("/proc");
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_EQ(FolderOf(*folder).parent_path(), "/tmp");
}

}  // namespace
}  // namespace reel::front
