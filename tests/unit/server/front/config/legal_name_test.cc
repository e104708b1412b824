// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "server/front/config/field_rules.h"

namespace reel::front {
namespace {

TEST(IsLegalName, HoldsTheRule) {
  EXPECT_TRUE(IsLegalName("a"));
  EXPECT_TRUE(IsLegalName("ltx-0.9.5_b"));
  EXPECT_TRUE(IsLegalName(std::string(63, 'a')));
  for (const char* bad : {"", ".a", "-a", "_a", "A", "a b", "../a", "a/b", "a\\b", "a:b", "ä"}) {
    EXPECT_FALSE(IsLegalName(bad)) << bad;
  }
  EXPECT_FALSE(IsLegalName(std::string(64, 'a')));
  EXPECT_FALSE(IsLegalName(std::string_view("a\0b", 3)));
}

TEST(IsLegalReplica, HoldsTheRule) {
  EXPECT_TRUE(IsLegalReplica("a"));
  EXPECT_TRUE(IsLegalReplica("0eu1"));
  EXPECT_TRUE(IsLegalReplica(std::string(16, 'a')));
  for (const char* bad : {"", "-", "eu-1", "eu.1", "eu_1", "EU1", "eu 1", "../a", "ä"}) {
    EXPECT_FALSE(IsLegalReplica(bad)) << bad;
  }
  EXPECT_FALSE(IsLegalReplica(std::string(17, 'a')));
}

}  // namespace
}  // namespace reel::front
