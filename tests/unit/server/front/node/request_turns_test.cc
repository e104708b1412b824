// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/request_turns.h"

#include <gtest/gtest.h>

#include <string>

namespace reel::front {
namespace {

TEST(RequestTurnsTest, EachComesWhenTheOneBeforeItHasLeft) {
  RequestTurns turns;
  const RequestTurns::Key key{"t", "id"};
  std::string came;
  EXPECT_TRUE(turns.Enter(key, [&] { came += "0"; }));
  EXPECT_FALSE(turns.Enter(key, [&] { came += "1"; }));
  EXPECT_FALSE(turns.Enter(key, [&] { came += "2"; }));
  EXPECT_EQ(came, "");
  turns.Leave(key);
  EXPECT_EQ(came, "1");
  turns.Leave(key);
  EXPECT_EQ(came, "12");
  turns.Leave(key);
  EXPECT_TRUE(turns.Enter(key, [] {}));
}

TEST(RequestTurnsTest, OtherIdsAndOtherTenantsWaitForNobody) {
  RequestTurns turns;
  EXPECT_TRUE(turns.Enter({"t", "id"}, [] {}));
  EXPECT_TRUE(turns.Enter({"t", "other"}, [] {}));
  EXPECT_TRUE(turns.Enter({"u", "id"}, [] {}));
}

}  // namespace
}  // namespace reel::front
