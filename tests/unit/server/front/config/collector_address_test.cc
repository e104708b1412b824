// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "server/front/config/address.h"

namespace reel::front {
namespace {

TEST(CollectorAddress, FillsInWhatIsUsual) {
  for (const auto& [text, whole] : {
           std::pair("http://collector", "http://collector:4318/v1/traces"),
           std::pair("http://127.0.0.1:9/", "http://127.0.0.1:9/v1/traces"),
           std::pair("http://[::1]", "http://[::1]:4318/v1/traces"),
           std::pair("https://traces.test", "https://traces.test:443/v1/traces"),
           std::pair("https://[::1]:4318/otlp", "https://[::1]:4318/otlp"),
           std::pair("http://[::1]:80/otlp/v1/traces", "http://[::1]:80/otlp/v1/traces"),
       }) {
    const auto address = ParseCollectorAddress(text);
    ASSERT_TRUE(address.ok()) << text << ": " << address.status();
    EXPECT_EQ(address->ToString(), whole);
    EXPECT_TRUE(address->enabled());
  }
  EXPECT_FALSE(CollectorAddress().enabled());
}

TEST(CollectorAddress, RefusesWhatItCannotReach) {
  for (const char* text :
       {"", "collector:4318", "httpss://collector", "grpc://collector", "https://", "http://",
        "http://:4318", "http://h:0", "http://h:x", "http://h/a b", "http://h/a\r\nX: y",
        "http://h/?token=1", "http://h/#a", "http://h h", "http://h/\xc3\xa9"}) {
    EXPECT_FALSE(ParseCollectorAddress(text).ok()) << text;
  }
}

TEST(CollectorAddress, NeverShowsAPassword) {
  for (const char* text : {"http://me:secret@h", "http://me:sec/secret@h", "https://me:secret@h"}) {
    const auto address = ParseCollectorAddress(text);
    ASSERT_FALSE(address.ok());
    EXPECT_THAT(address.status().ToString(), ::testing::Not(::testing::HasSubstr("secret")));
  }
}

}  // namespace
}  // namespace reel::front
