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
  EXPECT_FALSE(place->is_state);
  const std::string state = StateKey("prod", "team.a_1", "prod-0123", 7);
  EXPECT_EQ(state, "prod/media/team.a_1/prod-0123/7.state");
  EXPECT_TRUE(IsLegalKey(state));
  EXPECT_TRUE(ReadMediaKey("prod", state)->is_state);
  EXPECT_EQ(ReadMediaKey("prod", state)->epoch, 7U);
}

// Whoever has a picture and the store, and no key, cannot tell whether it is there.
TEST(ObjectKeys, WithAKeyAConditionsNameTellsNothingOfIt) {
  const std::string hash(64, 'a');
  const std::string plain = ConditionKey("prod", "t", hash);
  EXPECT_EQ(ConditionKeys(Seal(), "prod", "t", hash), std::vector<std::string>{plain});
  const Seal first({std::string(32, '1'), std::string(32, '2')});
  const Seal second({std::string(32, '2'), std::string(32, '1')});
  const auto keys = ConditionKeys(first, "prod", "t", hash);
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(keys[2], plain);
  // The other one's is looked for, too.
  EXPECT_EQ(keys[1], ConditionKeys(second, "prod", "t", hash)[0]);
  for (const std::string& key : keys) EXPECT_TRUE(IsLegalKey(key)) << key;
  EXPECT_EQ(keys[0].find(hash), std::string::npos);
  EXPECT_NE(keys[0].substr(keys[0].rfind('/')),
            ConditionKeys(first, "prod", "u", hash)[0].substr(keys[0].rfind('/')));
}

TEST(ObjectKeys, WhatIsNotTheFleetsIsNone) {
  for (const char* key :
       {"", "prod/media/", "prod/media/t/v/1.mp4x", "prod/media/t/v/.mp4",
        "prod/media/t/v/01.state", "prod/media/t/v/1.states", "prod/media/t/v/01.mp4",
        "prod/media/t/v/w/1.mp4", "prod/media/t/1.mp4", "test/media/t/v/1.mp4", "t/v/1.mp4",
        "prod/conditions/t/v/1.mp4", "prod/media/t/v/-1.mp4", "prod/media/t/v/99999999999.mp4"}) {
    EXPECT_FALSE(ReadMediaKey("prod", key).has_value()) << key;
  }
}

}  // namespace
}  // namespace reel::front
