// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/front/node/fitness.h"

namespace reel::front {
namespace {

TEST(StoreState, OneObjectsTroubleIsNotTheStores) {
  StoreState state;
  EXPECT_TRUE(state.good());
  state.Note(absl::UnavailableError("The object store cannot be reached: x"));
  EXPECT_FALSE(state.good());
  // Of a server that shuts down nothing is learned.
  state.Note(absl::CancelledError("shuts down"));
  EXPECT_FALSE(state.good());
  EXPECT_EQ(
      state.Problem(),
      "fleet: The object store cannot be reached: x; results that wait for the object store: 0\n");
  state.Note(absl::NotFoundError("no such object"));
  EXPECT_TRUE(state.good());
  EXPECT_EQ(state.Problem(), "");
  for (const absl::Status& status :
       {absl::PermissionDeniedError("p"), absl::FailedPreconditionError("b"),
        absl::ResourceExhaustedError("f"), absl::UnavailableError("u")}) {
    state.Note(status);
    EXPECT_FALSE(state.good()) << status;
  }
}

TEST(StoreState, SaysWhenNothingMoreIsRendered) {
  StoreState state;
  state.SetWaiting(2, true);
  EXPECT_TRUE(state.full());
  EXPECT_EQ(state.Problem(),
            "fleet: results that wait for the object store: 2, as many as may: nothing more is "
            "rendered here\n");
  state.SetWaiting(1, false);
  EXPECT_EQ(state.Problem(), "");
}

}  // namespace
}  // namespace reel::front
