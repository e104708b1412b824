// SPDX-License-Identifier: Apache-2.0
#include "server/front/app_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;

TEST(AppParts, AModelKnowsTheWorkersThatHaveIt) {
  ServerOptions server;
  server.models.resize(2);
  server.models[0].name = "big";
  server.models[0].path = "/big";
  server.models[1].name = "small";
  server.workers = {{"w0", "cpu", {"big", "small"}}, {"w1", "cpu", {"small"}}};
  const std::vector<ModelSource> sources = SourcesOf(server);
  ASSERT_EQ(sources.size(), 2u);
  EXPECT_EQ(sources[0].load.path, "/big");
  EXPECT_THAT(sources[0].workers, ElementsAre("w0"));
  EXPECT_THAT(sources[1].workers, ElementsAre("w0", "w1"));
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

TEST(AppParts, AFolderWithALogIsReadByNobodyElse) {
  const reel::testing::TempFolder temp;
  ServerOptions with_log, without;
  with_log.data.experimental_log = true;
  const auto logged = DataFolder::Open(temp.File("logged"));
  ASSERT_TRUE(logged.ok());
  EXPECT_TRUE(CheckFolder(with_log, *logged).ok());
  EXPECT_TRUE(temp.Has("logged/log.db"));
  EXPECT_TRUE(CheckFolder(with_log, *logged).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(CheckFolder(without, *logged)));
  const auto plain = DataFolder::Open(temp.File("plain"));
  ASSERT_TRUE(plain.ok());
  temp.Write("plain/reel.db", "");
  EXPECT_TRUE(CheckFolder(without, *plain).ok());
  EXPECT_TRUE(CheckFolder(with_log, *plain).ok());
  EXPECT_FALSE(temp.Has("plain/log.db")) << "it would hide what is to be taken over";
}

TEST(AppParts, AServerWithALogOfItsOwnIsANodeThatIsAlone) {
  const reel::testing::TempFolder temp;
  const auto folder = DataFolder::Open(temp.File("data"));
  ASSERT_TRUE(folder.ok());
  AppOptions app;
  app.server.data.experimental_log = true;
  const NodeOptions node = MakeNodeOptions(app, *folder, "eu1");
  EXPECT_TRUE(node.alone);
  EXPECT_EQ(node.fleet, "eu1");
  EXPECT_EQ(node.view_file, folder->log_path());
  EXPECT_TRUE(MakeJobOptions(app, "eu1").in_fleet);
  EXPECT_EQ(MakeJobOptions(app, "eu1").replica, "eu1");
}

TEST(AppParts, AFolderKeepsTheNameOfItsVideos) {
  const reel::testing::TempFolder temp;
  const auto folder = DataFolder::Open(temp.File("data"));
  ASSERT_TRUE(folder.ok());
  ServerOptions server;
  server.data.experimental_log = true;
  std::string drawn;
  for (int start = 0; start < 3; ++start) {
    const auto store = OpenJobStore(folder->database_path());
    ASSERT_TRUE(store.ok()) << store.status();
    const auto names = NamesOf(server, *folder, **store);
    ASSERT_TRUE(names.ok()) << names.status();
    if (start == 0) drawn = *names;
    EXPECT_EQ(*names, drawn);
  }
  EXPECT_EQ(drawn.size(), 6U);
  server.data.replica = "eu1";
  const auto store = OpenJobStore(folder->database_path());
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ(*NamesOf(server, *folder, **store), "eu1");
}

}  // namespace
}  // namespace reel::front
