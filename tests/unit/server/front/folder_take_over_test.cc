// SPDX-License-Identifier: Apache-2.0
// A folder that a server without a log has filled, as its log knows it afterwards.
#include "server/front/folder_take_over.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "kernels/base/digest/sha256.h"
#include "server/errors/error.h"
#include "server/front/fleet/embedded_log.h"
#include "server/front/node/object_keys.h"
#include "server/front/objects/file_store.h"
#include "server/front/store/job_store.h"
#include "server/front/store/sqlite.h"
#include "server/front/stored_messages.h"
#include "tests/fakes/await.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

class FolderTakeOverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::make_unique<DataFolder>(*DataFolder::Open(temp_.File("data")));
    objects_ = *FileStore::Open(folder_->objects_path(), ops_);
    store_ = *OpenJobStore(folder_->database_path());
  }

  Video VideoOf(const std::string& id, VideoState state) {
    Video video;
    video.id = id;
    video.tenant = "t";
    video.state = state;
    video.spec.model = "testcard";
    video.spec.prompt = "a red fox";
    video.create_time = absl::FromUnixSeconds(++time_);
    video.deadline = absl::Now() + absl::Hours(1);
    if (IsFinal(state)) {
      video.end_time = absl::Now();
      video.expire_time = absl::Now() + absl::Hours(1);
    }
    return video;
  }
  void Store(Video video, const std::string& request_id = "", int attempt = 1) {
    JobRow row;
    row.id = video.id;
    row.tenant = video.tenant;
    row.state = video.state;
    row.attempt = video.attempt = attempt;
    row.create_time = video.create_time;
    row.num_conditions = static_cast<int>(video.spec.conditions.size());
    row.last_sequence = 7;
    row.video = serializer_.Serialize(video);
    Create(std::move(row));
    if (request_id.empty()) return;
    Execute(absl::StrCat("UPDATE jobs SET request_id = '", request_id,
                         "', spec_hash = 'hash' WHERE id = '", video.id, "'"));
  }
  // As a build before the log wrote it.
  void Execute(const std::string& sql) {
    const auto database = Database::OpenAgain(folder_->database_path());
    ASSERT_TRUE(database.ok()) << database.status();
    const absl::Status done = (*database)->Execute(sql.c_str());
    ASSERT_TRUE(done.ok()) << done;
  }
  void Create(JobRow row) {
    ASSERT_TRUE(reel::testing::AwaitStatus([&](auto done) {
                  store_->Create(std::move(row), std::move(done));
                }).ok());
  }
  absl::Status Take() {
    return TakeOverFolder(*folder_, serializer_, {"abcdef", "alone"}, *objects_);
  }
  FleetState State() {
    FleetView view({folder_->log_path(), "", nullptr, /*holds_log=*/true});
    EXPECT_TRUE(view.opened().ok()) << view.opened();
    EXPECT_TRUE(view.voids().empty());
    return view.state();
  }

  reel::testing::TempFolder temp_;
  FileOps ops_;
  StoredMessages serializer_;
  std::unique_ptr<DataFolder> folder_;
  std::unique_ptr<FileStore> objects_;
  std::unique_ptr<JobStore> store_;
  int64_t time_ = 0;
};

TEST_F(FolderTakeOverTest, EachVideoIsAsItWas) {
  Store(VideoOf("abcdef-done", VideoState::kSucceeded), "6f1f6f0e-5a0c-4a8e-9a57-0d3c0f6b1a2d", 2);
  Store(VideoOf("abcdef-failed", VideoState::kFailed));
  Store(VideoOf("abcdef-cancelled", VideoState::kCancelled));
  Store(VideoOf("abcdef-runs", VideoState::kRunning));
  Store(VideoOf("older-waits", VideoState::kQueued));
  ASSERT_TRUE(Take().ok());
  FleetState state = State();
  ASSERT_EQ(state.jobs.size(), 5U);
  const FleetJob& done = state.jobs[{"t", "abcdef-done"}];
  EXPECT_EQ(done.phase, FleetPhase::kSucceeded);
  EXPECT_EQ(done.owner, "alone");
  EXPECT_EQ(done.begun, 1U);
  EXPECT_EQ(done.last_sequence, 7U);
  EXPECT_EQ(serializer_.Parse(done.video)->spec.prompt, "a red fox");
  EXPECT_EQ((state.jobs[{"t", "abcdef-failed"}].phase), FleetPhase::kFailed);
  EXPECT_EQ((state.jobs[{"t", "abcdef-cancelled"}].phase), FleetPhase::kCancelled);
  // As a process leaves them that is killed.
  for (const char* const id : {"abcdef-runs", "older-waits"}) {
    EXPECT_EQ((state.jobs[{"t", id}].phase), FleetPhase::kClaimed) << id;
    EXPECT_EQ((state.jobs[{"t", id}].owner), "alone") << id;
  }
  ASSERT_EQ(state.bindings.size(), 1U);
  EXPECT_EQ(state.bindings.begin()->second.video, "abcdef-done");
  EXPECT_EQ(state.bindings.begin()->second.spec_hash, "hash");
}

TEST_F(FolderTakeOverTest, ARemovedVideosRequestIdStaysTaken) {
  const std::string id = "6f1f6f0e-5a0c-4a8e-9a57-0d3c0f6b1a2d";
  Execute(absl::StrCat("INSERT INTO tombstones VALUES ('t', '", id, "', 9223372036854775807)"));
  ASSERT_TRUE(Take().ok());
  const FleetState state = State();
  ASSERT_EQ(state.bindings.count({"t", id}), 1U);
  const auto video = state.jobs.find({"t", state.bindings.at({"t", id}).video});
  ASSERT_NE(video, state.jobs.end());
  EXPECT_TRUE(video->second.deleted);
  EXPECT_EQ(video->second.phase, FleetPhase::kSucceeded);
}

TEST_F(FolderTakeOverTest, PicturesOfWhatWaitsAreInTheStore) {
  Video video = VideoOf("abcdef-waits", VideoState::kQueued);
  model::Condition condition;
  condition.content_type = "image/png";
  condition.size_bytes = 6;
  condition.sha256 = Sha256Hex("pixels");
  video.spec.conditions = {condition};
  Store(video);
  std::filesystem::create_directory(folder_->path() + "/conditions");
  temp_.Write("data/conditions/abcdef-waits.0", "pixels");
  ASSERT_TRUE(Take().ok());
  const ObjectPage page = *objects_->List("abcdef/conditions/t/", "");
  ASSERT_EQ(page.objects.size(), 1U);
  EXPECT_EQ(*objects_->Get(page.objects[0].key, 0, 10), "pixels");
}

TEST_F(FolderTakeOverTest, ADamagedRecordCostsItself) {
  JobRow row;
  row.id = "abcdef-damaged";
  row.tenant = "t";
  row.state = VideoState::kQueued;
  row.video = "no video";
  Create(row);
  row.id = "abcdef-spoiled";
  row.state = VideoState::kSucceeded;
  Create(row);
  Store(VideoOf("abcdef-whole", VideoState::kSucceeded));
  ASSERT_TRUE(Take().ok());
  const FleetState state = State();
  EXPECT_EQ(state.jobs.count({"t", "abcdef-whole"}), 1U);
  EXPECT_EQ(state.jobs.count({"t", "abcdef-damaged"}), 0U) << "it would wait for good";
}

// Whatever it has left, the next start begins anew, and what was is kept as it was at first.
TEST_F(FolderTakeOverTest, OneThatWasCutShortBeginsAnew) {
  for (int i = 0; i < 450; ++i) {
    Store(VideoOf("abcdef-v" + std::to_string(i), VideoState::kSucceeded));
  }
  ASSERT_TRUE(Take().ok());
  const FleetState whole = State();
  EXPECT_EQ(whole.jobs.size(), 450U);
  const std::string kept = temp_.Read("data/reel.db.before-log");
  EXPECT_FALSE(kept.empty());
  const std::string log = temp_.Read("data/log.db");
  std::filesystem::remove(folder_->log_path());
  temp_.Write("data/log.db.new", log.substr(0, log.size() / 2));
  ASSERT_TRUE(Take().ok());
  EXPECT_EQ(State(), whole);
  EXPECT_EQ(temp_.Read("data/reel.db.before-log"), kept);
  EXPECT_FALSE(temp_.Has("data/log.db.new"));
}

// tests/conformance/kept_folder/README.md says how it was made.
class KeptFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string kept =
        std::string(std::getenv("REEL_SOURCE")) + "/tests/conformance/kept_folder";
    std::filesystem::copy(kept, temp_.File("data"), std::filesystem::copy_options::recursive);
    folder_ = std::make_unique<DataFolder>(*DataFolder::Open(temp_.File("data")));
    objects_ = *FileStore::Open(folder_->objects_path(), ops_);
  }
  static std::string RequestId(int number) {
    return "00000000-0000-4000-8000-00000000000" + std::to_string(number);
  }

  reel::testing::TempFolder temp_;
  FileOps ops_;
  StoredMessages serializer_;
  std::unique_ptr<DataFolder> folder_;
  std::unique_ptr<FileStore> objects_;
};

TEST_F(KeptFolderTest, EachOfItsVideosIsAsItWas) {
  ASSERT_TRUE(TakeOverFolder(*folder_, serializer_, {"txckit", "alone"}, *objects_).ok());
  const Seal none;
  const LoggedVideos reader(serializer_, none);
  FleetView view({folder_->log_path(), "", &reader, /*holds_log=*/true});
  ASSERT_TRUE(view.opened().ok()) << view.opened();
  EXPECT_TRUE(view.voids().empty());
  FleetState state = view.state();
  std::map<std::string, FleetState::Key> names;  // by prompt; of those that can be read
  std::map<std::string, FleetPhase> phases;
  for (const auto& [key, job] : state.jobs) {
    const absl::StatusOr<Video> video = serializer_.Parse(job.video);
    const std::string prompt = job.deleted  ? "deleted"
                               : video.ok() ? video->spec.prompt
                                            : "damaged record";
    names[prompt] = key;
    phases[prompt] = job.phase;
  }
  EXPECT_THAT(
      phases,
      ElementsAre(Pair("broken file", FleetPhase::kSucceeded),
                  Pair("cancelled", FleetPhase::kCancelled),
                  Pair("damaged record", FleetPhase::kSucceeded),
                  Pair("deleted", FleetPhase::kSucceeded), Pair("expired", FleetPhase::kSucceeded),
                  Pair("finished", FleetPhase::kSucceeded), Pair("late", FleetPhase::kClaimed),
                  Pair("nan", FleetPhase::kFailed), Pair("plain", FleetPhase::kSucceeded),
                  Pair("queued", FleetPhase::kClaimed), Pair("running", FleetPhase::kClaimed)));
  // Those of the failed and the cancelled one were free again.
  const std::map<int, std::string> bound = {{1, "finished"}, {3, "deleted"}, {4, "damaged record"},
                                            {5, "expired"},  {6, "running"}, {7, "queued"}};
  EXPECT_EQ(state.bindings.size(), bound.size());
  for (const auto& [number, prompt] : bound) {
    EXPECT_EQ((state.bindings[{"default", RequestId(number)}].video), names[prompt].second);
  }
  const absl::Time now = absl::Now();
  EXPECT_TRUE(view.FindVideo(names["expired"])->gone(now));
  EXPECT_FALSE(view.FindVideo(names["finished"])->gone(now));
  EXPECT_FALSE(view.FindVideo(names["damaged record"])->facts.readable);
  EXPECT_GT(view.FindVideo(names["finished"])->facts.device_seconds, 0);
  EXPECT_GT(view.Paces()["testcard"].seconds, 0);
}

}  // namespace
}  // namespace reel::front
