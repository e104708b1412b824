// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/front/objects/s3_store.h"

namespace reel::front {
namespace {

constexpr char kHead[] = "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"urn:x\"><Name>b</Name>";

std::string Entry(const std::string& key, const std::string& size = "3") {
  return "<Contents><LastModified>2026-11-25T19:14:57Z</LastModified><ETag>&#34;3&#34;</"
         "ETag><Key>" +
         key + "</Key><Size>" + size + "</Size></Contents>";
}

TEST(ListAnswer, IsReadInOrder) {
  const auto page =
      ReadListAnswer(kHead + std::string("<IsTruncated>true</IsTruncated>") +
                     Entry("media/a", "300000") + Entry("media/b") + "</ListBucketResult>");
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_TRUE(page->more);
  ASSERT_EQ(page->objects.size(), 2U);
  EXPECT_EQ(page->objects[0].key, "media/a");
  EXPECT_EQ(page->objects[0].size, 300000);
  EXPECT_EQ(page->objects[0].changed, absl::FromUnixSeconds(1795634097));
  EXPECT_EQ(page->objects[1].key, "media/b");
}

TEST(ListAnswer, LeavesOutWhatIsNobodysHere) {
  const auto page =
      ReadListAnswer(kHead + std::string("<IsTruncated>false</IsTruncated>") + Entry("media/../b") +
                     Entry("a &amp; b") + Entry("media/c") + "</ListBucketResult>");
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_FALSE(page->more);
  ASSERT_EQ(page->objects.size(), 1U);
  EXPECT_EQ(page->objects[0].key, "media/c");
}

TEST(ListAnswer, IsNoOtherText) {
  const std::string good = "<IsTruncated>false</IsTruncated>";
  for (const std::string& text :
       {std::string(), std::string("<html></html>"), std::string(kHead),
        kHead + good + Entry("media/a", "x"), kHead + good + Entry("media/a", "-1"),
        kHead + good + "<Contents><Key>media/a</Key>",
        kHead + good + "<Contents><Key>media/a</Key><Size>3</Size></Contents>",
        kHead + std::string("<IsTruncated>perhaps</IsTruncated>")}) {
    EXPECT_FALSE(ReadListAnswer(text).ok()) << text;
  }
}

}  // namespace
}  // namespace reel::front
