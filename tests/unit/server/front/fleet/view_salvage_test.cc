// SPDX-License-Identifier: Apache-2.0
// A damaged file of a log costs the videos whose records cannot be read.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/front/fleet/embedded_log.h"
#include "server/front/fleet/log_messages.h"
#include "server/front/fleet/view_store.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

using Outcome = WriteResult::Outcome;

constexpr int kVideos = 200;
constexpr size_t kPage = 4096;
constexpr char kTableLeaf = 0x0d;  // the first byte of such a page

LogWrite BoundRequest(int video) {
  LogWrite write{absl::StrCat("j.t.v", video, ".q"), WriteRequest({std::string(700, 'v'), ""}),
                 absl::StrCat("q", video)};
  write.also.push_back({absl::StrCat("j.t.id", video, ".r.1"),
                        WriteBinding({absl::StrCat("v", video), ""}), absl::StrCat("r", video)});
  return write;
}

TEST(ViewSalvage, ADamagedPageCostsItsVideosAndFreesTheirNames) {
  const reel::testing::TempFolder folder{reel::testing::TempFolder::Fast()};
  const std::string file = folder.File("log.db");
  const auto write = [](EmbeddedLog& log, int video) {
    const auto result = log.Write(BoundRequest(video), absl::ZeroDuration());
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : WriteResult{};
  };
  uint64_t last = 0;
  {
    FleetView view({file, "", nullptr, /*holds_log=*/true});
    const auto log = *EmbeddedLog::Open(view);
    for (int i = 0; i < kVideos; ++i) last = write(*log, i).sequence;
  }
  // As a disk may do it: a page of records (tenant, id) is no page any more.
  std::string bytes = folder.Read("log.db");
  size_t at = kPage;
  while (bytes[at] != kTableLeaf || bytes.substr(at, kPage).find("tv100") == std::string::npos) {
    at += kPage;
    ASSERT_LT(at, bytes.size());
  }
  folder.Write("log.db", bytes.replace(at, 200, std::string(200, '\xff')));

  FleetView view({file, "", nullptr, /*holds_log=*/true});
  const auto log = EmbeddedLog::Open(view);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_TRUE(folder.Has("log.db.damaged"));
  int lost = 0;
  for (int i = 0; i < kVideos; ++i) {
    const std::string id = absl::StrCat("v", i), request_id = absl::StrCat("id", i);
    if (view.Find("t", id)) {
      EXPECT_TRUE(view.FindBinding("t", request_id).has_value()) << id;
      continue;
    }
    ++lost;
    EXPECT_FALSE(view.FindBinding("t", request_id).has_value()) << id;
    const WriteResult again = write(**log, i);
    EXPECT_EQ(again.outcome, Outcome::kWon);
    EXPECT_GT(again.sequence, last) << "no sequence is given twice";
    EXPECT_TRUE(view.Find("t", id).has_value());
  }
  EXPECT_GT(lost, 0);
  EXPECT_LT(lost, 20);
}

}  // namespace
}  // namespace reel::front
