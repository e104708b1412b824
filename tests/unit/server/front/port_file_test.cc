// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/front/app_parts.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

TEST(PortFile, IsThereWholeOrNotAtAll) {
  reel::testing::TempFolder folder;
  EXPECT_TRUE(WritePortFile(folder.File("ports"), "grpc=127.0.0.1:1\n").ok());
  EXPECT_EQ(folder.Read("ports"), "grpc=127.0.0.1:1\n");
  EXPECT_FALSE(folder.Has("ports.part"));
  EXPECT_TRUE(WritePortFile(folder.File("ports"), "grpc=127.0.0.1:2\n").ok());
  EXPECT_EQ(folder.Read("ports"), "grpc=127.0.0.1:2\n");
}

TEST(PortFile, SaysWhichCannotBeWritten) {
  reel::testing::TempFolder folder;
  const absl::Status refused = WritePortFile(folder.File("none/ports"), "grpc=127.0.0.1:1\n");
  EXPECT_NE(std::string(refused.message()).find("none/ports"), std::string::npos) << refused;
}

}  // namespace
}  // namespace reel::front
