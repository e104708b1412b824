// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/front/workers/worker_pool_options.h"

namespace reel::front {
namespace {

TEST(EncoderThreads, AreAWorkersShareOfTheCores) {
  EXPECT_EQ(EncoderThreads(0, 1, 8), 8);
  EXPECT_EQ(EncoderThreads(0, 4, 32), 8);
  EXPECT_EQ(EncoderThreads(0, 1, 64), 16) << "more would have nothing to do";
  EXPECT_EQ(EncoderThreads(0, 8, 4), 2);
  EXPECT_EQ(EncoderThreads(0, 0, 0), 2);
  EXPECT_EQ(EncoderThreads(5, 8, 4), 5) << "as configured";
}

}  // namespace
}  // namespace reel::front
