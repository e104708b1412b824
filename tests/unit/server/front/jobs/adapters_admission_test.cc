// SPDX-License-Identifier: Apache-2.0
// Adapters that requests name, against those that are registered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "server/front/jobs/admission.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class AdaptersAdmission : public ::testing::Test {
 protected:
  AdaptersAdmission() : roster_(options_), admission_(options_, roster_, costs_) {
    roster_.SetServed({"card", "late"});
    request_.tenant = "t";
    request_.spec.prompt = "a fox";
  }
  absl::StatusOr<CheckedRequest> Check() { return admission_.CheckRequest(request_, 7); }

  JobOptions options_;
  CostModel costs_;
  WorkerRoster roster_;
  Admission admission_;
  NewJob request_;
};

TEST_F(AdaptersAdmission, KnowsThoseThatATenantMayUse) {
  roster_.SetAdapters({{{.name = "grain", .sha256 = "a"}, {}},
                       {{.name = "secret", .sha256 = "b", .tenants = {"t"}}, {"card"}},
                       {{.name = "elsewhere", .sha256 = "c"}, {"late"}}});
  roster_.SetCard(TestCard());
  roster_.Update(ReadyWorker("w0"));
  roster_.SetLoaded("w0", TestCard());
  model::ModelCard card = TestCard();
  card.adapter_ranks = 64;
  card.sound = {.sample_rate = 48'000, .channels = 2};
  roster_.SetCard(card);
  request_.spec.adapters = {{"secret", {}}, {"grain", 0.5}};
  const auto checked = Check();
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(checked->spec.adapters[0], (model::RequestAdapter{"grain", 0.5, "a"}));
  EXPECT_EQ(checked->spec.adapters[1], (model::RequestAdapter{"secret", 1, "b"}));
  request_.tenant = "other";
  EXPECT_THAT(SerializeError(Check().status()), HasSubstr("spec.adapters[0].name"));
  request_.tenant = "t";
  request_.spec.adapters = {{"elsewhere", {}}};
  EXPECT_THAT(SerializeError(Check().status()),
              AllOf(HasSubstr("spec.adapters[0].name"), HasSubstr("ADAPTER_NOT_FOR_MODEL")));
  // Of a model with sound, where this one has none.
  roster_.SetAdapters({{{.name = "voice", .sha256 = "d", .parts = {"video", "audio"}}, {}}});
  request_.spec.adapters = {{"voice", {}}};
  EXPECT_TRUE(Check().ok()) << Check().status();
  card.sound = {};
  roster_.SetCard(card);
  EXPECT_THAT(SerializeError(Check().status()), HasSubstr("ADAPTER_NOT_FOR_MODEL"));
  roster_.SetAdapters({{{.name = "grain", .sha256 = "a"}, {}}});
  // A model without room takes none.
  roster_.SetCard(TestCard());
  request_.spec.adapters = {{"grain", {}}};
  EXPECT_THAT(SerializeError(Check().status()), HasSubstr("takes no adapters"));
}

}  // namespace
}  // namespace reel::front
