// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/page_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/server/front/http/door_site.h"

namespace reel::front {
namespace {

using ::testing::HasSubstr;

TEST(PageFiles, AreServedWithTheirPolicy) {
  DoorSite site;
  auto client = site.Client();
  const auto page = client.Get("/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_EQ(page->body, PageHtml());
  EXPECT_EQ(page->get_header_value("Content-Type"), "text/html; charset=utf-8");
  const std::string policy = page->get_header_value("Content-Security-Policy");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'; script-src 'self'; style-src 'self'"));
  EXPECT_THAT(policy, ::testing::Not(HasSubstr("unsafe")));
  EXPECT_EQ(client.Get("/app.js")->body, PageScript());
  EXPECT_EQ(client.Get("/app.js")->get_header_value("Content-Type"),
            "text/javascript; charset=utf-8");
  EXPECT_EQ(client.Get("/app.css")->get_header_value("Content-Type"), "text/css; charset=utf-8");
  EXPECT_EQ(client.Post("/", "", "text/plain")->status, 405);
}

TEST(PageFiles, ArePutAwayWhereTheyAreNotWanted) {
  DoorSite site({}, nullptr, false);
  auto client = site.Client();
  for (const char* path : {"/", "/app.js", "/app.css"}) {
    EXPECT_EQ(client.Get(path)->status, 404) << path;
  }
}

// What a policy forbids, and what would make markup of a text.
TEST(PageFiles, HaveNothingThatRunsTexts) {
  const size_t bytes = PageHtml().size() + PageScript().size() + PageStyle().size();
  EXPECT_LE(bytes, 94U * 1024);
  for (const char* never : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                            "eval(", "localStorage", "sessionStorage", "http://", "https://"}) {
    EXPECT_EQ(PageScript().find(never), std::string_view::npos) << never;
    EXPECT_EQ(PageHtml().find(never), std::string_view::npos) << never;
    EXPECT_EQ(PageStyle().find(never), std::string_view::npos) << never;
  }
}

}  // namespace
}  // namespace reel::front
