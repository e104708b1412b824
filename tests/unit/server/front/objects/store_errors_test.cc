// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/front/objects/s3_store.h"

namespace reel::front {
namespace {

StoreAnswer Refused(int status, const std::string& body) {
  StoreAnswer answer;
  answer.status = status;
  answer.body = body;
  return answer;
}

TEST(StoreErrors, NameThePlaceAndTheStoresOwnWord) {
  const absl::Status status =
      RefusalOf(Refused(404, "<Error><Code>NoSuchBucket</Code></Error>"), "http://h:1/b");
  EXPECT_EQ(status.message(),
            "The object store has no such bucket: http://h:1/b (404 NoSuchBucket)");
}

TEST(StoreErrors, RepeatNothingThatIsNoWord) {
  for (const std::string& code :
       {std::string("two words"), std::string("new\nline"), std::string(65, 'a')}) {
    const absl::Status status =
        RefusalOf(Refused(500, "<Error><Code>" + code + "</Code></Error>"), "h");
    EXPECT_EQ(status.message(), "The object store does not do it: h (500)") << code;
  }
}

}  // namespace
}  // namespace reel::front
