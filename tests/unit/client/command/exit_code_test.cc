// SPDX-License-Identifier: Apache-2.0
#include "client/command/exit_code.h"

#include <gtest/gtest.h>

#include "client/error_details.h"
#include "tests/fakes/refusal.h"

namespace reel::client {
namespace {

int CodeOf(int code, const std::string& reason = "SOME_REASON") {
  const fakes::Refusal refusal = fakes::MakeRefusal(code, reason, "");
  return static_cast<int>(ExitCodeOf(MakeStatus(code, "", refusal.status.SerializeAsString())));
}

TEST(ExitCodeOf, IsWhatScriptsRelyOn) {
  EXPECT_EQ(CodeOf(0), 0);
  EXPECT_EQ(CodeOf(3), 3);    // INVALID_ARGUMENT
  EXPECT_EQ(CodeOf(11), 3);   // OUT_OF_RANGE
  EXPECT_EQ(CodeOf(14), 4);   // UNAVAILABLE
  EXPECT_EQ(CodeOf(8), 5);    // RESOURCE_EXHAUSTED
  EXPECT_EQ(CodeOf(4), 6);    // DEADLINE_EXCEEDED
  EXPECT_EQ(CodeOf(13), 7);   // INTERNAL
  EXPECT_EQ(CodeOf(15), 7);   // DATA_LOSS
  EXPECT_EQ(CodeOf(1), 7);    // CANCELLED, by somebody else
  EXPECT_EQ(CodeOf(12), 7);   // UNIMPLEMENTED
  EXPECT_EQ(CodeOf(5), 8);    // NOT_FOUND
  EXPECT_EQ(CodeOf(6), 9);    // ALREADY_EXISTS
  EXPECT_EQ(CodeOf(9), 9);    // FAILED_PRECONDITION
  EXPECT_EQ(CodeOf(16), 10);  // UNAUTHENTICATED
  EXPECT_EQ(CodeOf(7), 10);   // PERMISSION_DENIED
}

TEST(ExitCodeOf, TellsAFullDiskHereFromAQuotaThere) {
  EXPECT_EQ(static_cast<int>(ExitCodeOf(absl::ResourceExhaustedError("disk"))), 7);
}

}  // namespace
}  // namespace reel::client
