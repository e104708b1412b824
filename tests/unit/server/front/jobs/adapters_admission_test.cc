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
  AdaptersAdmission() : fleet_(options_), admission_(options_, fleet_, costs_) {
    fleet_.SetServed({"card", "late"});
    request_.tenant = "t";
    request_.spec.prompt = "a fox";
  }
  absl::StatusOr<CheckedRequest> Check() { return admission_.CheckRequest(request_, 7); }

  JobOptions options_;
  CostModel costs_;
  Fleet fleet_;
  Admission admission_;
  NewJob request_;
};

TEST_F(AdaptersAdmission, KnowsThoseThatATenantMayUse) {
  fleet_.SetAdapters({{{.name = "grain", .sha256 = "a"}, {}},
                      {{.name = "secret", .sha256 = "b", .tenants = {"t"}}, {"card"}},
                      {{.name = "elsewhere", .sha256 = "c"}, {"late"}}});
  fleet_.SetCard(TestCard());
  fleet_.Update(ReadyWorker("w0"));
  fleet_.SetLoaded("w0", TestCard());
  model::ModelCard card = TestCard();
  card.adapter_ranks = 64;
  card.sound = {.sample_rate = 48'000, .channels = 2};
  fleet_.SetCard(card);
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
  fleet_.SetAdapters({{{.name = "voice", .sha256 = "d", .parts = {"video", "audio"}}, {}}});
  request_.spec.adapters = {{"voice", {}}};
  EXPECT_TRUE(Check().ok()) << Check().status();
  card.sound = {};
  fleet_.SetCard(card);
  EXPECT_THAT(SerializeError(Check().status()), HasSubstr("ADAPTER_NOT_FOR_MODEL"));
  fleet_.SetAdapters({{{.name = "grain", .sha256 = "a"}, {}}});
  // A model without room takes none.
  fleet_.SetCard(TestCard());
  request_.spec.adapters = {{"grain", {}}};
  EXPECT_THAT(SerializeError(Check().status()), HasSubstr("takes no adapters"));
}

}  // namespace
}  // namespace reel::front
