// SPDX-License-Identifier: Apache-2.0
// Real servers of one fleet, of which one cannot render for now.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/integration/fleet_site.h"
#include "tests/integration/small_disk.h"

namespace reel::tests {
namespace {

class FleetUnfitTest : public FleetSite {
 protected:
  static bool IsReady(const ReelServer& server) { return !server.Get("/readyz").empty(); }
};

TEST_F(FleetUnfitTest, AFullNodeFailsNoVideoAndIsReadyAgainOnceThereIsRoom) {
  const SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "SKIPPED: no right to mount here";
  ReelServer& full = Add("a", 10, "", disk.path("data"));
  ReelServer& whole = Add("b");
  Calls at_full = At(full), at_whole = At(whole);
  ASSERT_TRUE(Eventually([&] { return IsReady(full) && IsReady(whole); }));
  const std::string filler = disk.path("filler");
  std::ofstream(filler, std::ios::binary) << std::string(4 << 20, 'x');  // as far as it goes
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) {
    names.push_back(at_whole.Create(Spec(absl::StrCat("full ", i))).name());
  }
  for (const std::string& name : names) {
    const v1::Video video = at_whole.Await(name);
    EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.ShortDebugString();
  }
  // Whichever it claimed, it noticed.
  EXPECT_TRUE(Eventually(
      [&] { return !IsReady(full) && full.Metric("reel_fleet_unfit", "reason=\"disk\"") == 1; }));
  EXPECT_TRUE(IsReady(whole));
  EXPECT_EQ(whole.Metric("reel_fleet_unfit"), 0);
  std::filesystem::remove(filler);
  EXPECT_TRUE(Eventually([&] { return IsReady(full); }));
  const std::string last = at_full.Create(Spec("room again")).name();
  EXPECT_EQ(at_full.Await(last).state(), v1::VIDEO_STATE_SUCCEEDED);
}

// Killed amid calls, its folder removed, started at once under its name, while others work.
TEST_F(FleetUnfitTest, AGatewayThatHasLostItsFolderStartsEachTime) {
  Add("a", 20);
  const testing::TempFolder disk;
  const std::string folder = disk.File("data");
  std::vector<std::string> names;
  for (int i = 0; i < 8; ++i) {
    ReelServer& gateway = AddGateway("gateway", true, folder);
    Calls at = At(gateway);
    for (int k = 0; k < 3; ++k) {
      names.push_back(at.Create(Spec(absl::StrCat("lost ", i, " ", k))).name());
    }
    v1::WatchVideoRequest request;
    request.set_name(names.back());
    at.Watch(request, [](const v1::VideoEvent& event) { return !event.has_progress(); });
    gateway.Signal(SIGKILL);
    ASSERT_TRUE(Eventually([&] {
      std::error_code busy;  // the dying one may still write
      std::filesystem::remove_all(folder, busy);
      return !busy;
    }));
  }
  Calls at = At(AddGateway("gateway", true, folder));
  for (const std::string& name : names) {
    EXPECT_EQ(at.Await(name).state(), v1::VIDEO_STATE_SUCCEEDED) << name;
  }
}

}  // namespace
}  // namespace reel::tests
