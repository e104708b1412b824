// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "server/front/config/secret_files.h"

namespace reel::front {
namespace {

using ::testing::HasSubstr;

constexpr uid_t kRoot = 0, kSomebody = 1234;
constexpr gid_t kOurs = 65532, kTheirs = 4321;
const std::vector<gid_t> kOwnGroups = {100, kOurs};

TEST(SecretFile, TheOwnerAloneIsFine) {
  EXPECT_EQ(WhyNotSecret({0600, kSomebody, kTheirs}, kOwnGroups), "");
  EXPECT_EQ(WhyNotSecret({0400, kSomebody, kTheirs}, {}), "");
}

TEST(SecretFile, IsTakenAsKubernetesMountsIt) {
  // defaultMode 0440 and fsGroup: root's, readable by the pod's group.
  EXPECT_EQ(WhyNotSecret({0440, kRoot, kOurs}, kOwnGroups), "");
  EXPECT_EQ(WhyNotSecret({0640, kSomebody, kOurs}, kOwnGroups), "");
  EXPECT_EQ(WhyNotSecret({0440, kRoot, kTheirs}, kOwnGroups), "");
}

TEST(SecretFile, AnotherGroupMayNotReadWhatRootDoesNotOwn) {
  EXPECT_THAT(WhyNotSecret({0440, kSomebody, kTheirs}, kOwnGroups), HasSubstr("group"));
}

TEST(SecretFile, NoGroupMayWriteAndNoOtherUserMayDoAnything) {
  for (const mode_t mode : {0660, 0620, 0460}) {
    EXPECT_THAT(WhyNotSecret({mode, kRoot, kOurs}, kOwnGroups), HasSubstr("write"));
  }
  for (const mode_t mode : {0644, 0604, 0601, 0602, 0444, 0666}) {
    EXPECT_THAT(WhyNotSecret({mode, kRoot, kOurs}, kOwnGroups), HasSubstr("every user"));
  }
}

TEST(SecretFile, OfThisProcessIsJudgedByItsGroupsAndNamedWithItsMode) {
  const std::string path = ::testing::TempDir() + "/secret_file_test";
  std::ofstream(path) << "x";
  for (const mode_t good : {0600, 0400, 0440, 0640}) {
    ASSERT_EQ(chmod(path.c_str(), good), 0);
    EXPECT_TRUE(CheckSecretFile(path).ok()) << std::oct << good;
  }
  for (const mode_t bad : {0644, 0660}) {
    ASSERT_EQ(chmod(path.c_str(), bad), 0);
    const absl::Status open = CheckSecretFile(path);
    EXPECT_EQ(open.code(), absl::StatusCode::kPermissionDenied);
    EXPECT_THAT(std::string(open.message()), HasSubstr(bad == 0644 ? "0644" : "0660"));
  }
  EXPECT_EQ(CheckSecretFile(path + ".missing").code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace reel::front
