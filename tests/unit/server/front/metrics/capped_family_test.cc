// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "server/front/metrics/families.h"

namespace reel::front {
namespace {

TEST(CappedFamily, FoldsWhatIsTooMuchAndCountsIt) {
  prometheus::Registry registry;
  auto& family = prometheus::BuildCounter().Name("x").Register(registry);
  auto& all_dropped = prometheus::BuildCounter().Name("d").Register(registry);
  CappedFamily<prometheus::Counter> capped(family, 2, all_dropped);
  prometheus::Counter& dropped = all_dropped.Add({{"family", "x"}});
  prometheus::Counter& a = capped.Get({{"k", "a"}});
  prometheus::Counter& b = capped.Get({{"k", "b"}});
  EXPECT_NE(&a, &b);
  EXPECT_EQ(&capped.Get({{"k", "a"}}), &a);
  EXPECT_EQ(dropped.Value(), 0);
  prometheus::Counter& c = capped.Get({{"k", "c"}});
  EXPECT_EQ(&capped.Get({{"k", "d"}}), &c);
  EXPECT_EQ(dropped.Value(), 2);
  EXPECT_TRUE(family.Has({{"k", "other"}}));
  EXPECT_FALSE(family.Has({{"k", "c"}}));
}

}  // namespace
}  // namespace reel::front
