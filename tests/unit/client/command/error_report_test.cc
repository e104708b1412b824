// SPDX-License-Identifier: Apache-2.0
#include "client/command/error_report.h"

#include <gtest/gtest.h>

#include "client/error_details.h"
#include "tests/fakes/refusal.h"

namespace reel::client {
namespace {

absl::Status Received(const fakes::Refusal& refusal) {
  return MakeStatus(refusal.status.code(), refusal.status.message(),
                    refusal.status.SerializeAsString());
}

fakes::Refusal Invalid() {
  fakes::Refusal refusal = fakes::MakeRefusal(3, "INVALID_SPEC", "The request is invalid.");
  fakes::AddViolation(refusal, "spec.width", "700 is not a multiple of 32; nearest: 704.");
  fakes::AddViolation(refusal, "spec.kernels.variants[\"attention\"]", "No variant \"x\".");
  return refusal;
}

TEST(ReportError, NamesEachFlagAndWhatToDo) {
  EXPECT_EQ(ReportError(Received(Invalid()), {"s:1", {}}, false),
            "error: The request breaks 2 rules:\n"
            "  --width: 700 is not a multiple of 32; nearest: 704.\n"
            "  --kernel: No variant \"x\".\n"
            "hint: `reel models` shows what each model accepts.\n");
}

TEST(ReportError, SaysHowToReachAServer) {
  const std::string text = ReportError(
      absl::UnavailableError("failed to connect to all addresses; last error: UNKNOWN: "
                             "ipv4:127.0.0.1:1: Failed to connect to remote host: Connection "
                             "refused"),
      {"127.0.0.1:1", {}}, false);
  EXPECT_EQ(text.find("error: No Reel server answers at 127.0.0.1:1: Connection refused.\n"), 0u);
  EXPECT_NE(text.find("--server"), std::string::npos);
}

TEST(ReportError, ThinksOfTlsWhereTheServerHungUp) {
  const absl::Status status = absl::UnavailableError(
      "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: Socket closed");
  EXPECT_NE(ReportError(status, {"127.0.0.1:1", {}}, false).find("--tls-ca"), std::string::npos);
}

TEST(ReportError, SaysWhenToTryAgain) {
  fakes::Refusal refusal = fakes::MakeRefusal(14, "QUEUE_FULL", "The queue is full.");
  fakes::AddRetryInfo(refusal, 12'000);
  EXPECT_EQ(ReportError(Received(refusal), {"s:1", {}}, false),
            "error: The queue is full.\nhint: Try again in 12 s.\n");
}

TEST(ReportError, LetsNoMessageSteerTheTerminal) {
  const std::string text = ReportError(absl::InternalError("a\033[2Jb"), {"s:1", {}}, false);
  EXPECT_EQ(text, "error: a [2Jb\n");
}

TEST(ErrorJson, HoldsWhatAScriptNeeds) {
  EXPECT_EQ(ErrorJson(Received(Invalid())),
            "{\"error\":{\"code\":\"INVALID_ARGUMENT\",\"message\":\"The request is invalid.\","
            "\"reason\":\"INVALID_SPEC\",\"violations\":[{\"field\":\"spec.width\",\"description\":"
            "\"700 is not a multiple of 32; nearest: 704.\"},{\"field\":"
            "\"spec.kernels.variants[\\\"attention\\\"]\",\"description\":\"No variant "
            "\\\"x\\\".\"}]}}");
}

TEST(FlagOf, KnowsPathsAndTheirElements) {
  EXPECT_EQ(FlagOf("spec.num_frames"), "--frames");
  EXPECT_EQ(FlagOf("labels[a]"), "--label");
  EXPECT_EQ(FlagOf("spec.widths"), "spec.widths");
  EXPECT_EQ(FlagOf("spec.conditions"), "--image, --last-image, --condition, --reference, --sound");
}

TEST(FlagOf, NamesTheFlagAndFileOfEachCondition) {
  const std::vector<std::string> sent = {"--image fox.png", "--sound song.flac"};
  EXPECT_EQ(FlagOf("spec.conditions[0].image", sent), "--image fox.png");
  EXPECT_EQ(FlagOf("spec.conditions[1].audio", sent), "--sound song.flac");
  for (const char* const field : {"spec.conditions", "spec.conditions[2].image",
                                  "spec.conditions[x].image", "spec.conditions["}) {
    EXPECT_EQ(FlagOf(field, sent), "--image, --last-image, --condition, --reference, --sound")
        << field;
  }
}

}  // namespace
}  // namespace reel::client
