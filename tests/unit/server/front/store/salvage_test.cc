// SPDX-License-Identifier: Apache-2.0
// A damaged database costs the rows that are damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "server/front/store/job_store.h"
#include "server/front/store/sqlite.h"
#include "tests/fakes/await.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

using ::reel::testing::Await;

constexpr int kRows = 200;
constexpr size_t kPage = 4096;
constexpr char kTableLeaf = 0x0d, kIndexLeaf = 0x0a;  // the first byte of such a page

class SalvageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = *OpenJobStore(path_);
    for (int i = 0; i < kRows; ++i) {
      JobRow row;
      row.id = absl::StrCat("job", i);
      row.tenant = "t";
      row.create_time = absl::FromUnixSeconds(i + 1);
      row.video = std::string(700, 'v');
      row.restarts = {{5, absl::FromUnixSeconds(1), "X", 2}};
      store->Create(row, nullptr);
    }
    store->PutBlob("card", "m", "bytes");
  }
  std::string Bytes() const { return temp_.Read("reel.db"); }
  // Pages of this kind that hold `text`.
  std::vector<size_t> Pages(char kind, const std::string& text) const {
    const std::string bytes = Bytes();
    std::vector<size_t> pages;
    for (size_t at = kPage; at + kPage <= bytes.size(); at += kPage) {
      const std::string page = bytes.substr(at, kPage);
      if (page[0] == kind && page.find(text) != std::string::npos) pages.push_back(at);
    }
    return pages;
  }
  void Damage(size_t at) {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file << std::string(200, '\xff');
  }
  std::vector<JobRow> Rows(JobStore& store) {
    PageQuery query;
    query.tenant = "t";
    query.limit = 2 * kRows;
    return *Await<std::vector<JobRow>>(
        [&](auto done) { store.Page(std::move(query), std::move(done)); });
  }

  reel::testing::TempFolder temp_;
  const std::string path_ = temp_.File("reel.db");
};

TEST_F(SalvageTest, ADamagedPageCostsTheRowsThatAreOnIt) {
  const std::vector<size_t> pages = Pages(kTableLeaf, std::string(700, 'v'));
  ASSERT_GT(pages.size(), 10U);
  Damage(pages[pages.size() / 2]);
  const std::string damaged = Bytes();
  auto store = OpenJobStore(path_);
  ASSERT_TRUE(store.ok()) << store.status();
  const std::vector<JobRow> rows = Rows(**store);
  EXPECT_LT(rows.size(), size_t{kRows});
  EXPECT_GE(rows.size(), size_t{kRows} - 6);  // as many as fit on a page
  EXPECT_EQ(rows.front().id, "job199");
  EXPECT_EQ(rows.back().id, "job0");
  for (const JobRow& row : rows) EXPECT_EQ(row.video.size(), 700U);
  EXPECT_EQ(temp_.Read("reel.db.damaged"), damaged);
  // It is a database like any other.
  const auto blobs = Await<std::map<std::string, std::string>>(
      [&](auto done) { (*store)->Blobs("card", std::move(done)); });
  EXPECT_EQ(blobs->at("m"), "bytes");
  const auto live = Await<std::vector<JobRow>>([&](auto done) { (*store)->Live(std::move(done)); });
  ASSERT_TRUE(live.ok());
  EXPECT_EQ(live->front().restarts.size(), 1U);
}

TEST_F(SalvageTest, ADamagedIndexCostsNothing) {
  const std::vector<size_t> pages = Pages(kIndexLeaf, "job1");
  ASSERT_FALSE(pages.empty());
  Damage(pages.front());
  auto store = OpenJobStore(path_);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ(Rows(**store).size(), size_t{kRows});
  const auto row =
      Await<std::optional<JobRow>>([&](auto done) { (*store)->Find("job7", std::move(done)); });
  ASSERT_TRUE(row.ok());
  EXPECT_TRUE(row->has_value());
}

TEST_F(SalvageTest, AWholeDatabaseIsLeftAlone) {
  ASSERT_TRUE(OpenJobStore(path_).ok());
  EXPECT_FALSE(temp_.Has("reel.db.damaged"));
}

TEST_F(SalvageTest, NothingIsChangedWhereNothingCanBeRead) {
  Damage(0);
  const std::string damaged = Bytes();
  const auto store = OpenJobStore(path_);
  EXPECT_EQ(store.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(store.status().message()), ::testing::HasSubstr("Put a copy of it back"));
  EXPECT_EQ(Bytes(), damaged);
  EXPECT_FALSE(temp_.Has("reel.db.damaged"));
  EXPECT_FALSE(temp_.Has("reel.db.salvaged"));
}

// What was committed since the last checkpoint is only in the log: a damaged log costs that.
TEST_F(SalvageTest, ADamagedLogCostsWhatIsOnlyInIt) {
  std::string wal;
  {
    auto store = *OpenJobStore(path_);
    JobRow row;
    row.id = "late";
    row.tenant = "t";
    row.create_time = absl::FromUnixSeconds(1000);
    ASSERT_TRUE(
        reel::testing::AwaitStatus([&](auto done) { store->Create(row, std::move(done)); }).ok());
    std::filesystem::copy(path_, temp_.File("copy.db"));
    wal = temp_.Read("reel.db-wal");
  }
  ASSERT_GT(wal.size(), 100U);
  for (const bool damaged : {false, true}) {
    const std::string path = temp_.File(damaged ? "damaged.db" : "whole.db");
    std::filesystem::copy(temp_.File("copy.db"), path);
    if (damaged) wal[60] = static_cast<char>(wal[60] ^ 1);
    std::ofstream(path + "-wal", std::ios::binary) << wal;
    auto store = OpenJobStore(path);
    ASSERT_TRUE(store.ok()) << store.status();
    EXPECT_EQ(Rows(**store).size(), size_t{kRows} + (damaged ? 0 : 1));
  }
}

}  // namespace
}  // namespace reel::front
