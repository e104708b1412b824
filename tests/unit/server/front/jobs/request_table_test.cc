// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/request_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reel::front {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const RequestKey kKey = {"t", "id"};

Caller From(const std::string& tenant, const std::string& request_id) {
  Caller caller;
  caller.request.tenant = tenant;
  caller.request.request_id = request_id;
  return caller;
}

TEST(RequestTable, ARequestIsDueWhenSomethingHasChangedForIt) {
  RequestTable table;
  table.Add(From("t", "id"));
  table.Add(From("t", "id"));
  EXPECT_THAT(table.TakeDue(), ElementsAre(kKey));
  EXPECT_THAT(table.TakeDue(), IsEmpty());
  table.Answered(kKey);
  EXPECT_THAT(table.TakeDue(), ElementsAre(kKey));
  table.Free(kKey);
  EXPECT_THAT(table.TakeDue(), ElementsAre(kKey));
}

TEST(RequestTable, AJobHasItsIdUntilItGivesItFree) {
  RequestTable table;
  table.Claim(kKey, "job");
  EXPECT_EQ(table.Find(kKey)->job, "job");
  table.Free(kKey);
  EXPECT_EQ(table.Find(kKey)->job, "");
  table.Forget(kKey);
  EXPECT_EQ(table.Find(kKey), nullptr);
}

TEST(RequestTable, AnEmptyRequestIdIsNobodys) {
  RequestTable table;
  table.Claim({"t", ""}, "job");
  table.Answered({"t", ""});
  table.Free({"t", ""});
  EXPECT_THAT(table.TakeDue(), IsEmpty());
  EXPECT_EQ(table.Find({"t", ""}), nullptr);
}

TEST(RequestTable, CallersComeInOrder) {
  RequestTable table;
  for (const char* hash : {"a", "b"}) {
    Caller caller = From("t", "id");
    caller.spec_hash = hash;
    table.Add(std::move(caller));
  }
  EXPECT_EQ(table.Find(kKey)->TakeFirst().spec_hash, "a");
  EXPECT_EQ(table.Find(kKey)->TakeFirst().spec_hash, "b");
  EXPECT_TRUE(table.Find(kKey)->callers.empty());
}

}  // namespace
}  // namespace reel::front
