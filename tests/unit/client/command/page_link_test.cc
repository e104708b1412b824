// SPDX-License-Identifier: Apache-2.0
#include "client/command/page_link.h"

#include <gtest/gtest.h>

namespace reel::client {
namespace {

v1::GetServerInfoResponse At(const std::string& url, bool page = true) {
  v1::GetServerInfoResponse info;
  info.set_http_url(url);
  info.set_has_page(page);
  return info;
}

TEST(PageLink, IsTheServersAddressOfItsPage) {
  EXPECT_EQ(*PageLink(At("http://127.0.0.1:8080"), "127.0.0.1:50051"), "http://127.0.0.1:8080/");
  EXPECT_EQ(*PageLink(At("https://[fe80::1]:8443"), "unix:/run/reel"), "https://[fe80::1]:8443/");
}

TEST(PageLink, TakesTheHostThatReachedTheServerWhereItListensEverywhere) {
  EXPECT_EQ(*PageLink(At("https://0.0.0.0:8080"), "studio.test:50051"),
            "https://studio.test:8080/");
  EXPECT_EQ(*PageLink(At("https://[::]:8080"), "[fe80::2]:50051"), "https://[fe80::2]:8080/");
  EXPECT_EQ(*PageLink(At("http://0.0.0.0:8080"), "unix:/run/reel"), "http://127.0.0.1:8080/");
}

TEST(PageLink, WithoutAPageThereIsNone) {
  EXPECT_EQ(PageLink(At("", false), "a:1").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(PageLink(At("http://a:1", false), "a:1").status().code(), absl::StatusCode::kNotFound);
}

TEST(PageLink, WhatIsNoPlainAddressGoesToNoBrowser) {
  for (const char* url : {"file:///etc/passwd", "javascript:1", "http://-x:1", "http://a b:1",
                          "http://a/x:1", "http://", "nothing"}) {
    EXPECT_EQ(PageLink(At(url), "a:1").status().code(), absl::StatusCode::kInvalidArgument) << url;
  }
}

}  // namespace
}  // namespace reel::client
