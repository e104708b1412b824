// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "server/front/objects/store_call.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

TEST(StoreCredentials, AreReadAgainWhenTheFileIsAnother) {
  reel::testing::TempFolder folder;
  const auto replace = [&](const std::string& text, mode_t mode) {
    const std::string next = folder.Write("next", text);
    ::chmod(next.c_str(), mode);
    std::filesystem::rename(next, folder.File("credentials"));
  };
  StoreCredentials credentials(folder.File("credentials"));
  EXPECT_FALSE(credentials.Get().ok());
  replace("one:a/b+c==\n", 0600);
  EXPECT_EQ(credentials.Get()->key, "one");
  EXPECT_EQ(credentials.Get()->secret, "a/b+c==");
  replace("two:secret\n", 0440);
  EXPECT_EQ(credentials.Get()->key, "two");
  // What everybody can read, or is no pair, is not taken.
  replace("three:secret\n", 0644);
  EXPECT_EQ(credentials.Get()->key, "two");
  replace("nothing\n", 0600);
  EXPECT_EQ(credentials.Get()->key, "two");
  replace("four:secret\n", 0600);
  EXPECT_EQ(credentials.Get()->key, "four");
}

}  // namespace
}  // namespace reel::front
