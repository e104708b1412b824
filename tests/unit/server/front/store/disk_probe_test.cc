// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include "server/errors/error.h"
#include "server/front/store/media_file.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

TEST(ProbeDisk, ADiskThatTakesBytesIsGood) {
  const reel::testing::TempFolder folder;
  EXPECT_TRUE(ProbeDisk(folder.path()).ok());
}

TEST(ProbeDisk, ADiskThatTakesNoMoreIsFull) {
  const reel::testing::TempFolder folder;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status probed = ProbeDisk(folder.path());
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(ReasonOf(probed), Reason::kStoreFull) << probed;
}

TEST(ProbeDisk, AFolderThatIsGoneIsAnError) {
  const reel::testing::TempFolder folder;
  EXPECT_EQ(ReasonOf(ProbeDisk(folder.File("gone"))), Reason::kInternal);
}

}  // namespace
}  // namespace reel::front
