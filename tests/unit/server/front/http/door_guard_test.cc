// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/door_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "server/errors/error.h"

namespace reel::front {
namespace {

DoorHead HeadOf(const std::string& method, const std::string& host, const std::string& origin = "",
                const std::string& site = "") {
  DoorHead head;
  head.method = method;
  head.path = "/reel/v1/videos";
  if (!host.empty()) head.fields.push_back({"host", host});
  if (!origin.empty()) head.fields.push_back({"origin", origin});
  if (!site.empty()) head.fields.push_back({"sec-fetch-site", site});
  return head;
}

std::string NameOfRefusal(const DoorGuard& guard, const DoorHead& head) {
  const auto reason = ReasonOf(guard.Check(head));
  return reason ? std::string(Describe(*reason).name) : "";
}

TEST(DoorGuard, OnLoopbackOnlyItsOwnNamesAreHosts) {
  const DoorGuard guard({true, {"studio.test"}, {}});
  for (const char* host : {"localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:1", "[::1]",
                           "[::1]:8080", "studio.test:8080"}) {
    EXPECT_EQ(NameOfRefusal(guard, HeadOf("GET", host)), "") << host;
  }
  for (const char* host : {"", "evil.test", "localhost.evil.test", "127.0.0.1.evil.test", "[::2]",
                           "evil.test:localhost", "10.0.0.1", "localhost:80:80"}) {
    EXPECT_EQ(NameOfRefusal(guard, HeadOf("GET", host)), "HOST_REFUSED") << host;
  }
  EXPECT_EQ(NameOfRefusal(DoorGuard({false, {}, {}}), HeadOf("GET", "reel.example.org")), "");
}

TEST(DoorGuard, PagesOfOtherOriginsChangeNothing) {
  const DoorGuard guard({true, {}, {"https://studio.test"}});
  struct Case {
    const char *method, *origin, *site, *refusal;
  };
  for (const Case& c :
       {Case{"POST", "", "", ""}, Case{"POST", "http://localhost:8080", "same-origin", ""},
        Case{"POST", "https://studio.test", "cross-site", ""},
        Case{"DELETE", "https://studio.test", "", ""},
        Case{"POST", "http://evil.test", "", "ORIGIN_REFUSED"},
        Case{"POST", "null", "", "ORIGIN_REFUSED"},
        Case{"POST", "http://localhost:8081", "same-site", "ORIGIN_REFUSED"},
        Case{"POST", "http://localhost", "", "ORIGIN_REFUSED"},
        Case{"POST", "", "cross-site", "ORIGIN_REFUSED"},
        Case{"DELETE", "http://evil.test", "", "ORIGIN_REFUSED"},
        Case{"OPTIONS", "http://evil.test", "", "ORIGIN_REFUSED"},
        Case{"GET", "http://evil.test", "cross-site", ""}}) {
    EXPECT_EQ(NameOfRefusal(guard, HeadOf(c.method, "localhost:8080", c.origin, c.site)), c.refusal)
        << c.method << " " << c.origin << " " << c.site;
  }
}

std::string ValueOf(const DoorReply& reply, const std::string& name) {
  for (const DoorField& field : reply.fields) {
    if (field.name == name) return field.value;
  }
  return "";
}

TEST(DoorGuard, OnlyListedOriginsMayReadReplies) {
  const DoorGuard guard({true, {}, {"https://studio.test"}});
  DoorReply listed;
  guard.AddFields(HeadOf("GET", "localhost", "https://studio.test"), listed);
  EXPECT_EQ(ValueOf(listed, "Access-Control-Allow-Origin"), "https://studio.test");
  EXPECT_EQ(ValueOf(listed, "Cross-Origin-Resource-Policy"), "cross-origin");
  EXPECT_EQ(ValueOf(listed, "Access-Control-Allow-Credentials"), "");
  DoorReply other;
  guard.AddFields(HeadOf("GET", "localhost", "http://evil.test"), other);
  EXPECT_EQ(ValueOf(other, "Access-Control-Allow-Origin"), "");
  EXPECT_EQ(ValueOf(other, "Cross-Origin-Resource-Policy"), "same-origin");
  EXPECT_EQ(ValueOf(other, "Vary"), "Origin");
}

TEST(DoorGuard, PreflightsAreForListedOrigins) {
  const DoorGuard guard({true, {}, {"https://studio.test"}});
  DoorHead head = HeadOf("OPTIONS", "localhost", "https://studio.test");
  EXPECT_FALSE(guard.IsPreflight(head));
  head.fields.push_back({"access-control-request-method", "POST"});
  EXPECT_TRUE(guard.IsPreflight(head));
  EXPECT_EQ(guard.Preflight().status, 204);
  EXPECT_EQ(ValueOf(guard.Preflight(), "Access-Control-Max-Age"), "600");
  DoorHead other = HeadOf("OPTIONS", "localhost", "http://evil.test");
  other.fields.push_back({"access-control-request-method", "POST"});
  EXPECT_FALSE(guard.IsPreflight(other));
}

}  // namespace
}  // namespace reel::front
