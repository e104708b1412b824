// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/shown_error.h"

#include <gtest/gtest.h>

#include "server/errors/error.h"

namespace reel::front {
namespace {

TEST(ShownError, OnlyWhatHasAReasonIsShownAsItIs) {
  const absl::Status full = MakeError(Reason::kQueueFull, "full");
  EXPECT_EQ(ShownToClients(full), full);
  EXPECT_EQ(ReasonOf(ShownToClients(absl::CancelledError("x"))), Reason::kOwnerLeft);
  const absl::Status inner = ShownToClients(absl::NotFoundError("/secret"));
  EXPECT_EQ(ReasonOf(inner), Reason::kInternal);
  EXPECT_EQ(inner.message().find("secret"), absl::string_view::npos);
}

}  // namespace
}  // namespace reel::front
