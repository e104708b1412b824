// SPDX-License-Identifier: Apache-2.0
// The log of a server that is alone: what it has answered is there, in the log and in the view,
// wherever the process or the machine ends. What it answers is in log_promises_test.
#include "server/front/fleet/embedded_log.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/mutex.h"
#include "server/front/store/sqlite.h"
#include "tests/fakes/temp_folder.h"
#include "tests/unit/server/front/fleet/fold_entries.h"
#include "tests/unit/server/front/fleet/history_messages.h"

namespace reel::front {
namespace {

namespace fs = std::filesystem;
using Outcome = WriteResult::Outcome;

// A log and its view, over one file.
struct Opened {
  explicit Opened(const std::string& file, EmbeddedLogOptions options = {},
                  ViewListener* listener = nullptr)
      : view({file, "", nullptr, /*holds_log=*/true}, listener),
        log(EmbeddedLog::Open(view, options)) {
    EXPECT_TRUE(log.ok()) << log.status();
  }
  WriteResult Write(const LogWrite& write) {
    const auto result = (*log)->Write(write, absl::ZeroDuration());
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : WriteResult{};
  }

  FleetView view;
  absl::StatusOr<std::unique_ptr<EmbeddedLog>> log;
};

LogWrite RequestOf(int video) {
  return {absl::StrCat("j.t.v", video, ".q"), WriteRequest({}), absl::StrCat("q", video)};
}

int64_t Messages(const std::string& file) {
  auto database = Database::OpenAgain(file);
  EXPECT_TRUE(database.ok()) << database.status();
  const auto count = (*database)->QueryInt("SELECT count(*) FROM log");
  EXPECT_TRUE(count.ok()) << count.status();
  return *count;
}

class EmbeddedLogTest : public ::testing::Test {
 protected:
  reel::testing::TempFolder folder_{reel::testing::TempFolder::Fast()};
  const std::string file_ = folder_.File("log.db");
};

TEST_F(EmbeddedLogTest, TheViewHasWhatIsAnswered) {
  Opened opened(file_);
  EXPECT_TRUE(opened.view.ready());
  for (uint64_t i = 1; i <= 20; ++i) {
    EXPECT_EQ(opened.Write(RequestOf(static_cast<int>(i))).sequence, i);
    EXPECT_EQ(opened.view.position(), i);
    EXPECT_EQ(opened.view.told(), i);
  }
  EXPECT_EQ(opened.view.state().jobs.size(), 20U);
}

// Counts transactions, and can hold the log's thread in the first one.
class Transactions final : public ViewListener {
 public:
  void OnFolded(const std::map<FleetState::Key, ViewChange>&,
                const std::vector<ViewBill>&) override {
    if (++count > 1) return;
    const MutexLock lock(mutex_);
    while (!goes_on_) changed_.Wait(mutex_);
  }
  void OnAnew() override {}
  void OnCaughtUp() override {}

  void GoOn() {
    const MutexLock lock(mutex_);
    goes_on_ = true;
    changed_.NotifyAll();
  }

  int count = 0;

 private:
  Mutex mutex_;
  CondVar changed_;
  bool goes_on_ ABSL_GUARDED_BY(mutex_) = false;
};

TEST_F(EmbeddedLogTest, WhatWaitsTogetherIsOneTransaction) {
  Transactions transactions;
  Opened opened(file_, {}, &transactions);
  std::vector<uint64_t> sequences;
  for (int i = 0; i < 100; ++i) {
    (*opened.log)->Post(RequestOf(i), absl::ZeroDuration(), [&](auto result) {
      sequences.push_back(result->sequence);
    });
    // The thread has the first one, and only that.
    while (i == 0 && opened.view.position() == 0) std::this_thread::yield();
  }
  transactions.GoOn();
  opened.Write(RequestOf(99));
  EXPECT_EQ(transactions.count, 2);
  ASSERT_EQ(sequences.size(), 100U);
  for (size_t i = 0; i < sequences.size(); ++i) EXPECT_EQ(sequences[i], i + 1);
}

// Each commit is synced.
TEST_F(EmbeddedLogTest, ACommitSurvivesTheMachine) {
  Opened opened(file_);
  int64_t synchronous = 0;
  ASSERT_TRUE(opened.view
                  .Append([&](Database& db, FleetView::Messages&) {
                    const auto found = db.QueryInt("PRAGMA synchronous");
                    if (found.ok()) synchronous = *found;
                    return found.status();
                  })
                  .ok());
  EXPECT_EQ(synchronous, 2);  // FULL
}

TEST_F(EmbeddedLogTest, ARestartGoesOnAndKnowsWhoWroteWhat) {
  FleetState before;
  int64_t created = 0;
  {
    Opened first(file_);
    first.Write(RequestOf(1));
    first.Write(RequestOf(2));
    before = first.view.state();
    created = first.view.Start().created;
  }
  Opened second(file_);
  EXPECT_TRUE(second.view.ready());
  EXPECT_EQ(second.view.state(), before);
  EXPECT_EQ(second.view.Start().created, created);
  EXPECT_EQ(second.Write(RequestOf(1)).sequence, 1U);
  LogWrite rival = RequestOf(2);
  rival.message_id = "rival";
  EXPECT_EQ(second.Write(rival).outcome, Outcome::kLost);
  EXPECT_EQ(second.Write(RequestOf(3)).sequence, 3U);
}

// What SIGKILL or the machine's end leaves: the file and any beginning of what was appended to it.
TEST_F(EmbeddedLogTest, ACrashLeavesLogAndViewInAgreement) {
  const unsigned seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  Random random(seed);
  for (int round = 0; round < 4; ++round) {
    const std::string file = folder_.File(absl::StrCat("log", round));
    Opened opened(file);
    ExpectedLog expected;
    const History history = RandomHistory(random);
    for (size_t i = 0; i < history.size(); ++i) {
      const LogWrite write = WriteOf(history[i], absl::StrCat("w", i));
      const WriteResult result = opened.Write(write);
      ASSERT_EQ(result.outcome, expected.Write(write).outcome) << "seed " << seed;
      if (i % 16 != 0) continue;
      const bool whole = Below(random, 2) == 0;
      const std::string crashed = folder_.File(absl::StrCat("crashed", round, ".", i));
      fs::copy_file(file, crashed);
      fs::copy_file(file + "-wal", crashed + "-wal");
      const auto size = fs::file_size(crashed + "-wal");
      if (!whole) fs::resize_file(crashed + "-wal", Below(random, size + 1));
      Opened left(crashed);
      const FleetState state = left.view.state();
      if (whole) {
        ASSERT_EQ(state.position, expected.messages.size()) << "seed " << seed;
      }
      ASSERT_EQ(state, expected.StateAt(state.position)) << "seed " << seed;
      ASSERT_EQ(Messages(crashed), static_cast<int64_t>(state.position)) << "seed " << seed;
      // And it goes on from there.
      for (const StoredMessage& message : expected.messages) {
        const LogWrite again{message.subject, message.payload, message.message_id};
        ASSERT_EQ(left.Write(again).sequence, message.sequence) << "seed " << seed;
      }
      ASSERT_EQ(left.view.state(), expected.state()) << "seed " << seed;
    }
  }
}

// The child writes without end, several at a time, and tells the number of each that was answered.
[[noreturn]] void WriteForever(const std::string& file, int answers) {
  Opened opened(file);
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = writer;; i += 4) {
        const auto result = (*opened.log)->Write(RequestOf(i), absl::ZeroDuration());
        if (result.ok() && ::write(answers, &i, sizeof(i)) != sizeof(i)) ::_exit(1);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  ::_exit(0);
}

TEST_F(EmbeddedLogTest, WhatWasAnsweredIsThereAfterSigkill) {
  for (int round = 0; round < 5; ++round) {
    const std::string file = folder_.File(absl::StrCat("killed", round));
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) WriteForever(file, pipe[1]);
    ::close(pipe[1]);
    std::vector<int> answered;
    int video = 0;
    const size_t enough = static_cast<size_t>(20 + 37 * round);
    while (answered.size() < enough && ::read(pipe[0], &video, sizeof(video)) == sizeof(video)) {
      answered.push_back(video);
    }
    ::kill(child, SIGKILL);
    while (::read(pipe[0], &video, sizeof(video)) == sizeof(video)) answered.push_back(video);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    ::close(pipe[0]);
    Opened left(file);
    EXPECT_GE(answered.size(), enough);
    for (const int one : answered) {
      EXPECT_TRUE(left.view.Find("t", absl::StrCat("v", one)).has_value());
    }
    EXPECT_EQ(Messages(file), static_cast<int64_t>(left.view.position()));
  }
}

TEST_F(EmbeddedLogTest, OneThatCannotBeStoredTakesNothingOfAnotherWithIt) {
  Opened opened(file_);
  {
    auto other = Database::OpenAgain(file_);
    ASSERT_TRUE(other.ok());
    ASSERT_TRUE(
        (*other)
            ->Execute("CREATE TRIGGER no BEFORE INSERT ON log WHEN NEW.subject = 'j.t.v7.q' "
                      "BEGIN SELECT RAISE(ABORT, 'no'); END")
            .ok());
  }
  std::vector<absl::StatusOr<WriteResult>> results(20);
  for (size_t i = 0; i < results.size(); ++i) {
    (*opened.log)
        ->Post(RequestOf(static_cast<int>(i)), absl::ZeroDuration(),
               [&results, i](auto result) { results[i] = std::move(result); });
  }
  opened.Write(RequestOf(100));  // comes after all of them
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].status().code(),
              i == 7 ? absl::StatusCode::kUnavailable : absl::StatusCode::kOk);
  }
  EXPECT_EQ(opened.view.position(), 20U);
  EXPECT_FALSE(opened.view.Find("t", "v7").has_value());
  EXPECT_EQ(Messages(file_), 20);
}

TEST_F(EmbeddedLogTest, WhatBelongsTogetherIsStoredWholeOrNotAtAll) {
  Opened opened(file_);
  LogWrite both = RequestOf(1);
  both.also.push_back({"j.t.v1.c.1", WriteClaim({"alone", ""}), "c1"});
  EXPECT_EQ(opened.Write(both).sequence, 2U);
  EXPECT_EQ(opened.view.Find("t", "v1")->phase, FleetPhase::kClaimed);
  // Written again it is one's own.
  const WriteResult again = opened.Write(both);
  EXPECT_EQ(again.outcome, Outcome::kWon);
  EXPECT_EQ(again.sequence, 2U);
  LogWrite half = RequestOf(2);
  half.also.push_back({"j.t.v1.c.1", WriteClaim({"alone", ""}), "c2"});
  EXPECT_EQ(opened.Write(half).outcome, Outcome::kLost);
  EXPECT_FALSE(opened.view.Find("t", "v2").has_value());
  EXPECT_EQ(Messages(file_), 2);
}

TEST_F(EmbeddedLogTest, AFullDiskRefusesAndCostsNothing) {
  Opened opened(file_);
  const auto limit_pages = [&](const char* pragma) {
    ASSERT_TRUE(
        opened.view.Append([&](Database& db, FleetView::Messages&) { return db.Execute(pragma); })
            .ok());
  };
  limit_pages("PRAGMA max_page_count = 1");  // what there is
  absl::Status refused;
  int taken = 0;
  for (; taken < 100 && refused.ok(); ++taken) {
    LogWrite write = RequestOf(taken);
    write.payload = WriteRequest({std::string(10'000, 'v')});
    refused = (*opened.log)->Write(write, absl::ZeroDuration()).status();
  }
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted) << refused;
  EXPECT_EQ(opened.view.position(), static_cast<uint64_t>(taken - 1));
  EXPECT_TRUE(opened.view.ready());
  limit_pages("PRAGMA max_page_count = 100000");
  EXPECT_EQ(opened.Write(RequestOf(taken)).sequence, static_cast<uint64_t>(taken));
}

TEST_F(EmbeddedLogTest, WhatIsTooOldGoesAndWhatIsKnownStaysBound) {
  {
    Opened first(file_);
    for (const FoldEntry& entry : {Bind(1, "a", "kept"), Bind(1, "gone", "free"), Request()}) {
      first.Write(WriteOf(entry, MakeSubject(entry.subject).value()));
    }
    EXPECT_EQ(Messages(file_), 3);
  }
  {
    EmbeddedLogOptions options;
    options.max_age = absl::ZeroDuration();
    Opened second(file_, options);
    EXPECT_EQ(Messages(file_), 0);
    EXPECT_EQ(second.view.position(), 3U);
  }
  Opened third(file_);
  EXPECT_EQ(third.view.state().jobs.size(), 1U);
  EXPECT_TRUE(third.view.FindBinding("t", "kept").has_value());
  EXPECT_FALSE(third.view.FindBinding("t", "free").has_value());
  EXPECT_EQ(third.Write(RequestOf(1)).sequence, 4U);
  EXPECT_EQ(third.view.state().jobs.size(), 2U);
}

// It is nowhere else: nothing is made anew.
TEST_F(EmbeddedLogTest, ADamagedFileIsRefusedAndLeftAlone) {
  const std::string junk(100'000, 'x');
  folder_.Write("log.db", junk);
  {
    FleetView view({file_, "", nullptr, true});
    EXPECT_FALSE(EmbeddedLog::Open(view).ok());
  }
  EXPECT_EQ(folder_.Read("log.db"), junk);
  const std::string other = folder_.File("other.db");
  {
    Opened first(other);
    first.Write(RequestOf(1));
    auto database = Database::OpenAgain(other);
    ASSERT_TRUE((*database)->Execute("DROP TABLE videos").ok());
  }
  FleetView view({other, "", nullptr, true});
  EXPECT_FALSE(EmbeddedLog::Open(view).ok());
  EXPECT_EQ(Messages(other), 1);
}

// The disk breaks while it runs: writes are refused, nothing is denied, and the file stays.
TEST_F(EmbeddedLogTest, ABrokenFileRefusesAndDeniesNothing) {
  Opened opened(file_);
  opened.Write(RequestOf(1));
  {
    auto other = Database::OpenAgain(file_);
    ASSERT_TRUE((*other)->Execute("DROP TABLE videos").ok());
  }
  EXPECT_EQ((*opened.log)->Write(RequestOf(2), absl::ZeroDuration()).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_FALSE(opened.view.Find("t", "v1").has_value());
  EXPECT_FALSE(opened.view.ready());
  EXPECT_EQ(Messages(file_), 1);
}

}  // namespace
}  // namespace reel::front
