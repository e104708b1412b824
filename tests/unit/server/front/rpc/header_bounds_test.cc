// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/header_bounds.h"

#include <gtest/gtest.h>

// What they bound is tests/integration/attacks/endless_headers.py's: it takes a client that sends
// frame by frame.
namespace reel::front {
namespace {

TEST(HeaderBounds, HoldForTheGrpcThatReelIsBuiltWith) { EXPECT_TRUE(HeadersAreBounded()); }

}  // namespace
}  // namespace reel::front
