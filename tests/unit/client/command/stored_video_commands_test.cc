// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/unit/client/command/command_fixture.h"

namespace reel::client {
namespace {

using StoredVideoCommandsTest = CommandTest;

TEST_F(StoredVideoCommandsTest, VideosAreWatchedAndDownloaded) {
  const std::string path = folder_ + "/a.mp4";
  EXPECT_EQ(Run({"watch", "fake1"}), 0);
  EXPECT_TRUE(server_.asked().watches.at(0).without_media());
  EXPECT_EQ(Run({"watch", "fake1", "-o", path}), 0);
  EXPECT_EQ(ReadAll(path), server_.media());
  std::ofstream(path + ".part") << server_.media().substr(0, 1000);
  EXPECT_EQ(Run({"download", "fake1", "-o", path}), 0);
  EXPECT_EQ(out_, path + "\n");
  EXPECT_EQ(server_.asked().downloads.at(0).read_offset(), 1000);
}

TEST_F(StoredVideoCommandsTest, WhatIsNoFileIsRefusedBeforeTheServerIsAsked) {
  const std::string fifo = folder_ + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {fifo, folder_}) {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"generate", "x", "-o", path},
          {"watch", "fake1", "-o", path},
          {"download", "fake1", "-o", path}}) {
      EXPECT_EQ(Run(command), 3) << command[0] << " " << path;
      EXPECT_NE(err_.find("'" + path + "'"), std::string::npos) << err_;
    }
  }
  EXPECT_EQ(server_.asked().streams, 0);
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
}

}  // namespace
}  // namespace reel::client
