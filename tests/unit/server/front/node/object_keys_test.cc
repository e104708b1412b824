// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/object_keys.h"

#include <gtest/gtest.h>

#include "server/front/objects/object_store.h"

namespace reel::front {
namespace {

TEST(ObjectKeys, AreReadAsTheyWereMade) {
  const std::string key = MediaKey("prod", "team.a_1", "prod-0123", 7);
  EXPECT_EQ(key, "prod/media/team.a_1/prod-0123/7.mp4");
  EXPECT_TRUE(IsLegalKey(key));
  EXPECT_TRUE(IsLegalKey(ConditionKey("prod", "t", std::string(64, 'a'))));
  const auto place = ReadMediaKey("prod", key);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->tenant, "team.a_1");
  EXPECT_EQ(place->id, "prod-0123");
  EXPECT_EQ(place->epoch, 7U);
}

TEST(ObjectKeys, WhatIsNotTheFleetsIsNone) {
  for (const char* key :
       {"", "prod/media/", "prod/media/t/v/1.mp4x", "prod/media/t/v/.mp4", "prod/media/t/v/01.mp4",
        "prod/media/t/v/w/1.mp4", "prod/media/t/1.mp4", "test/media/t/v/1.mp4", "t/v/1.mp4",
        "prod/conditions/t/v/1.mp4", "prod/media/t/v/-1.mp4", "prod/media/t/v/99999999999.mp4"}) {
    EXPECT_FALSE(ReadMediaKey("prod", key).has_value()) << key;
  }
}

}  // namespace
}  // namespace reel::front
