// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/authorizer.h"

#include <gtest/gtest.h>
#include <openssl/sha.h>

#include "absl/strings/escaping.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

std::string Row(const std::string& token, const std::string& rest) {
  unsigned char hash[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), hash);
  return absl::BytesToHexString(
             absl::string_view(reinterpret_cast<const char*>(hash), sizeof hash)) +
         " " + rest + "\n";
}

TokenTable Tokens() {
  return *TokenTable::Parse(Row("view", "blue viewer") + Row("use", "blue user") +
                            Row("admin", "red admin"));
}

TEST(Authorizer, WithoutTokensEverybodyIsTheDefaultTenant) {
  const Authorizer authorizer;
  const auto principal = authorizer.Authorize("", Method::kGenerateVideo);
  ASSERT_TRUE(principal.ok());
  EXPECT_EQ(principal->tenant, "default");
}

TEST(Authorizer, EveryMethodAgainstEveryToken) {
  const Authorizer authorizer(Tokens());
  for (const MethodRow& row : AllMethods()) {
    const auto code = [&](const char* header) {
      return authorizer.Authorize(header, row.method).status().code();
    };
    if (!row.role) {
      EXPECT_EQ(code(""), absl::StatusCode::kOk) << row.name;
      continue;
    }
    for (const char* header :
         {"", "Bearer ", "Bearer nobody", "Basic view", "view", "Bearer view "}) {
      EXPECT_EQ(code(header), absl::StatusCode::kUnauthenticated) << row.name << " " << header;
    }
    const auto of = [&](Role role) {
      return *row.role <= role ? absl::StatusCode::kOk : absl::StatusCode::kPermissionDenied;
    };
    EXPECT_EQ(code("Bearer view"), of(Role::kViewer)) << row.name;
    EXPECT_EQ(code("Bearer use"), of(Role::kUser)) << row.name;
    EXPECT_EQ(code("bearer admin"), absl::StatusCode::kOk) << row.name;
  }
}

TEST(Authorizer, NamesTheTenantOfTheToken) {
  const Authorizer authorizer(Tokens());
  EXPECT_EQ(authorizer.Authorize("Bearer admin", Method::kGetVideo)->tenant, "red");
  EXPECT_EQ(authorizer.Authorize("Bearer use", Method::kGetVideo)->tenant, "blue");
}

TEST(Authorizer, ReasonsTellTheTwoRefusalsApart) {
  const Authorizer authorizer(Tokens());
  EXPECT_EQ(ReasonOf(authorizer.Authorize("", Method::kGetVideo).status()),
            Reason::kUnauthenticated);
  EXPECT_EQ(ReasonOf(authorizer.Authorize("Bearer view", Method::kCreateVideo).status()),
            Reason::kPermissionDenied);
}

TEST(Authorizer, TakesNewTokensWhileItRuns) {
  Authorizer authorizer(Tokens());
  authorizer.Replace(*TokenTable::Parse(Row("new", "blue user")));
  EXPECT_TRUE(authorizer.Authorize("Bearer new", Method::kGetVideo).ok());
  EXPECT_FALSE(authorizer.Authorize("Bearer use", Method::kGetVideo).ok());
}

TEST(Authorizer, AnEmptyTableLetsNobodyIn) {
  const Authorizer authorizer{TokenTable()};
  EXPECT_FALSE(authorizer.Authorize("", Method::kGetVideo).ok());
}

TEST(Authorizer, AHugeTokenIsNotEvenHashed) {
  const Authorizer authorizer(Tokens());
  EXPECT_FALSE(authorizer.Authorize("Bearer " + std::string(100'000, 'a'), Method::kGetVideo).ok());
}

}  // namespace
}  // namespace reel::front
