// SPDX-License-Identifier: Apache-2.0
// Tests that a SIGKILL at any instant leaves behind what was answered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "server/front/store/data_folder.h"
#include "server/front/store/job_store.h"
#include "tests/fakes/await.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

// The child creates jobs without end and writes the number of each one that was answered.
[[noreturn]] void CreateForever(const std::string& folder, int answers) {
  auto data = DataFolder::Open(folder);
  auto store = OpenJobStore(data->database_path());
  for (int i = 0;; ++i) {
    JobRow row;
    row.id = absl::StrCat("job", i);
    row.tenant = "t";
    row.create_time = absl::FromUnixSeconds(i);
    row.video = std::string(500, 'v');
    (*store)->Create(row, [answers, i](absl::Status status) {
      if (status.ok() && ::write(answers, &i, sizeof(i)) != sizeof(i)) ::_exit(1);
    });
    if (i % 16 == 0) {
      (void)reel::testing::Await<std::optional<JobRow>>(
          [&](auto done) { (*store)->Find("none", std::move(done)); });
    }
  }
}

TEST(StoreCrash, EveryAnsweredJobIsThereAfterSigkill) {
  for (int round = 0; round < 5; ++round) {
    reel::testing::TempFolder temp;
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) CreateForever(temp.path(), pipe[1]);
    ::close(pipe[1]);
    int last = -1, got = 0;
    const int enough = 20 + 37 * round;
    while (got < enough && ::read(pipe[0], &last, sizeof(last)) == sizeof(last)) ++got;
    ::kill(child, SIGKILL);
    while (::read(pipe[0], &last, sizeof(last)) == sizeof(last)) ++got;
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    ::close(pipe[0]);

    auto data = DataFolder::Open(temp.path());  // the lock went with the process
    ASSERT_TRUE(data.ok()) << data.status();
    auto store = OpenJobStore(data->database_path());
    ASSERT_TRUE(store.ok()) << store.status();
    const auto live = reel::testing::Await<std::vector<JobRow>>(
        [&](auto done) { (*store)->Live(std::move(done)); });
    ASSERT_TRUE(live.ok());
    EXPECT_GE(static_cast<int>(live->size()), got);
    for (const JobRow& row : *live) EXPECT_EQ(row.video.size(), 500u);
  }
}

}  // namespace
}  // namespace reel::front
