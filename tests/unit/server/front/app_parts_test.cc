// SPDX-License-Identifier: Apache-2.0
#include "server/front/app_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

TEST(AppParts, AConfigurationThatNeverTimesOperatorsSaysSoToWorkers) {
  AppOptions app;
  app.config.mutable_telemetry()->set_kernel_sample_every(-1);
  EXPECT_EQ(MakePoolOptions(app).kernel_sample_every, 0);
  app.config.mutable_telemetry()->set_kernel_sample_every(32);
  EXPECT_EQ(MakePoolOptions(app).kernel_sample_every, 32);
}

TEST(AppParts, ANodeSealsWithTheKeysThatWereRead) {
  const reel::testing::TempFolder temp;
  const auto folder = DataFolder::Open(temp.File("data"));
  ASSERT_TRUE(folder.ok());
  AppOptions app;
  EXPECT_FALSE(MakeNodeOptions(app, *folder, "eu1").seal.enabled());
  app.prompt_keys = {std::string(Seal::kKeyBytes, 'a'), std::string(Seal::kKeyBytes, 'b')};
  EXPECT_EQ(MakeNodeOptions(app, *folder, "eu1").seal.Ids(), Seal(app.prompt_keys).Ids());
}

TEST(AppParts, AFleetSetsTheLogOfAServerThatWasAloneAside) {
  const reel::testing::TempFolder temp;
  config::v1::ServerConfig alone, in_fleet;
  in_fleet.mutable_fleet()->set_name("prod");
  const auto folder = DataFolder::Open(temp.File("data"));
  ASSERT_TRUE(folder.ok());
  EXPECT_TRUE(PrepareFolder(in_fleet, *folder).ok());
  EXPECT_FALSE(temp.Has("data/log.db"));
  EXPECT_TRUE(PrepareFolder(alone, *folder).ok());
  EXPECT_TRUE(temp.Has("data/log.db"));
  EXPECT_TRUE(PrepareFolder(alone, *folder).ok());
  // With a database beside it, as after a first start.
  temp.Write("data/reel.db", "");
  temp.Write("data/log.db-wal", "killed");
  EXPECT_TRUE(PrepareFolder(in_fleet, *folder).ok());
  EXPECT_TRUE(temp.Has("data/log.db.before-fleet"));
  EXPECT_EQ(temp.Read("data/log.db.before-fleet-wal"), "killed");
  EXPECT_TRUE(PrepareFolder(alone, *folder).ok());
  EXPECT_FALSE(temp.Has("data/log.db")) << "it would hide what is to be taken over";
}

TEST(AppParts, AServerWithALogOfItsOwnIsANodeThatIsAlone) {
  const reel::testing::TempFolder temp;
  const auto folder = DataFolder::Open(temp.File("data"));
  ASSERT_TRUE(folder.ok());
  const NodeOptions node = MakeNodeOptions({}, *folder, "eu1");
  EXPECT_TRUE(node.alone);
  EXPECT_EQ(node.fleet, "eu1");
  EXPECT_EQ(node.view_file, folder->log_path());
  EXPECT_TRUE(MakeJobOptions({}, "eu1").alone);
  EXPECT_EQ(MakeJobOptions({}, "eu1").replica, "eu1");
}

TEST(AppParts, StatesAreKeptAsTheConfigurationSaysAndNowhereWithoutAStore) {
  AppOptions app;
  config::v1::State& state = *app.config.mutable_state();
  using Keep = StateOptions::Keep;
  const auto keep = [&](const char* value) {
    state.set_keep(value);
    return MakeJobOptions(app, "eu1").state.keep;
  };
  EXPECT_EQ(keep("on_request"), Keep::kOnRequest);
  EXPECT_EQ(keep("always"), Keep::kAlways);
  EXPECT_EQ(keep("never"), Keep::kNever);
  state.set_max_bytes(7);
  EXPECT_EQ(MakeJobOptions(app, "eu1").state.max_bytes, 7);
  EXPECT_EQ(MakeJobOptions(app, "eu1").state.max_age, absl::InfiniteDuration());
  state.mutable_max_age()->set_seconds(60);
  EXPECT_EQ(MakeJobOptions(app, "eu1").state.max_age, absl::Minutes(1));
  app.config.mutable_fleet()->set_name("prod");
  EXPECT_EQ(keep("on_request"), Keep::kNever);
  app.config.mutable_fleet()->mutable_objects();
  EXPECT_EQ(keep("on_request"), Keep::kOnRequest);
}

TEST(AppParts, AFolderKeepsTheNameOfItsVideos) {
  const reel::testing::TempFolder temp;
  const auto folder = DataFolder::Open(temp.File("data"));
  ASSERT_TRUE(folder.ok());
  config::v1::ServerConfig config;
  std::string drawn;
  for (int start = 0; start < 3; ++start) {
    const auto store = OpenJobStore(folder->database_path());
    ASSERT_TRUE(store.ok()) << store.status();
    const auto names = NamesOf(config, *folder, **store);
    ASSERT_TRUE(names.ok()) << names.status();
    if (start == 0) drawn = *names;
    EXPECT_EQ(*names, drawn);
  }
  EXPECT_EQ(drawn.size(), 6U);
  config.mutable_data()->set_replica("eu1");
  const auto store = OpenJobStore(folder->database_path());
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ(*NamesOf(config, *folder, **store), "eu1");
}

}  // namespace
}  // namespace reel::front
