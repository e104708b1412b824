// SPDX-License-Identifier: Apache-2.0
// With a shell script as the program that compares.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <future>

#include "server/front/workers/frames_comparer.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

using ::testing::HasSubstr;

class ProcessFramesComparerTest : public ::testing::Test {
 protected:
  std::unique_ptr<FramesComparer> Scripted(const std::string& body,
                                           absl::Duration limit = absl::Minutes(1)) {
    const std::string path = folder_.Write("compare.sh", "#!/bin/bash\n" + body + "\n");
    chmod(path.c_str(), 0700);
    return MakeProcessFramesComparer({path, limit});
  }
  static absl::StatusOr<FrameDistance> Ask(FramesComparer& comparer) {
    std::promise<absl::StatusOr<FrameDistance>> answer;
    comparer.Compare("/a.mp4", "/b.mp4", [&](auto distance) { answer.set_value(distance); });
    return answer.get_future().get();
  }

  testing::TempFolder folder_;
};

TEST_F(ProcessFramesComparerTest, ReadsWhatTheProgramSays) {
  const std::string out = folder_.File("arguments");
  auto comparer =
      Scripted("echo \"$@\" >" + out +
               "\necho '{\"frames\":9,\"identical\":false,\"psnrDb\":41.250,\"ssim\":0.98}'");
  const auto distance = Ask(*comparer);
  ASSERT_TRUE(distance.ok()) << distance.status();
  EXPECT_FALSE(distance->identical);
  EXPECT_DOUBLE_EQ(distance->psnr_db, 41.25);
  EXPECT_DOUBLE_EQ(distance->ssim, 0.98);
  EXPECT_EQ(folder_.Read("arguments"), "/a.mp4 /b.mp4\n");
}

TEST_F(ProcessFramesComparerTest, IdenticalPicturesHaveNoDistance) {
  auto comparer = Scripted("echo '{\"frames\":9,\"identical\":true,\"ssim\":1.000000}'");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Ask(*comparer)->identical) << i;
}

TEST_F(ProcessFramesComparerTest, ItsErrorsAreTold) {
  EXPECT_THAT(Ask(*Scripted("echo 'error: no video' >&2; exit 3")).status().message(),
              HasSubstr("error: no video"));
  EXPECT_EQ(Ask(*Scripted("exit 0")).status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(Ask(*Scripted("echo '{\"identical\":1,\"ssim\":\"x\"}'")).status().code(),
            absl::StatusCode::kInternal);
  EXPECT_EQ(Ask(*MakeProcessFramesComparer({folder_.File("missing")})).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(ProcessFramesComparerTest, OneThatHangsIsKilled) {
  auto comparer = Scripted("exec tail -f /dev/null", absl::Milliseconds(50));
  EXPECT_EQ(Ask(*comparer).status().code(), absl::StatusCode::kDeadlineExceeded);
}

// Without end and without a line: what is kept of it is bounded, and so is its time.
TEST_F(ProcessFramesComparerTest, OneThatTalksWithoutEndIsKilled) {
  auto comparer = Scripted("exec tr '\\0' 'x' </dev/zero", absl::Milliseconds(200));
  EXPECT_EQ(Ask(*comparer).status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(ProcessFramesComparerTest, OneAtATimeAndTheEndWaitsForNone) {
  auto comparer = Scripted("exec tail -f /dev/null");
  comparer->Compare("/a.mp4", "/b.mp4", [](auto) { ADD_FAILURE() << "answered"; });
  EXPECT_EQ(Ask(*comparer).status().code(), absl::StatusCode::kUnavailable);
  comparer.reset();
}

}  // namespace
}  // namespace reel::front
