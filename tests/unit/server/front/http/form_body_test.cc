// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/form_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

constexpr char kUrlencodedType[] = "application/x-www-form-urlencoded; charset=utf-8";
constexpr char kMultipartType[] = "multipart/form-data; boundary=abc";

std::string PartOf(const std::string& head, const std::string& value) {
  return absl::StrCat("--abc\r\nContent-Disposition: form-data; ", head, "\r\n\r\n", value, "\r\n");
}

std::string Shown(const absl::StatusOr<std::vector<FormPart>>& parts) {
  if (!parts.ok()) return std::string(Describe(*ReasonOf(parts.status())).name);
  std::string text;
  for (const FormPart& part : *parts) {
    absl::StrAppend(&text, part.name, part.file ? ":" : "=", part.value, ";");
  }
  return text;
}

TEST(FormBody, TypesAreKnownByTheirWord) {
  EXPECT_EQ(BodyTypeOf("Application/JSON; charset=utf-8"), BodyType::kJson);
  EXPECT_EQ(BodyTypeOf(kUrlencodedType), BodyType::kUrlencoded);
  EXPECT_EQ(BodyTypeOf(kMultipartType), BodyType::kMultipart);
  EXPECT_EQ(BodyTypeOf("application/json2"), BodyType::kOther);
  EXPECT_EQ(BodyTypeOf(""), BodyType::kOther);
}

TEST(FormBody, FormsAreReadAsTheyAreWritten) {
  EXPECT_EQ(Shown(ParseFormBody(kUrlencodedType, "prompt=a+red%20circle&n=1&empty=")),
            "prompt=a red circle;n=1;empty=;");
  EXPECT_EQ(Shown(ParseFormBody(kUrlencodedType, "")), "");
  const std::string two = PartOf("name=\"prompt\"", "a\r\nb") +
                          PartOf("name=f; filename=\"x\\\"y.png\"\r\nContent-Type: image/png",
                                 std::string("\x89\0\r\n--ab", 8)) +
                          "--abc--\r\n";
  EXPECT_EQ(Shown(ParseFormBody(kMultipartType, two)),
            "prompt=a\r\nb;f:" + std::string("\x89\0\r\n--ab", 8) + ";");
  EXPECT_EQ(Shown(ParseFormBody("multipart/form-data; boundary=\"abc\"",
                                PartOf("name=\"a\"", "") + "--abc--")),
            "a=;");
}

TEST(FormBody, WhatIsNoSuchFormIsRefused) {
  const std::string good = PartOf("name=\"a\"", "b");
  struct Case {
    const char* name;
    std::string type, body;
  };
  const std::vector<Case> cases = {
      {"no boundary", "multipart/form-data", good + "--abc--"},
      {"two boundaries", "multipart/form-data; boundary=abc; boundary=abc", good + "--abc--"},
      {"long boundary", "multipart/form-data; boundary=" + std::string(71, 'a'), good},
      {"other boundary", "multipart/form-data; boundary=abd", good + "--abc--"},
      {"preamble", kMultipartType, "x\r\n" + good + "--abc--"},
      {"no end", kMultipartType, good},
      {"cut", kMultipartType, good.substr(0, good.size() - 4)},
      {"epilogue", kMultipartType, good + "--abc--\r\nx"},
      {"longer boundary inside", kMultipartType, good + "--abcd\r\n"},
      {"no name", kMultipartType, PartOf("filename=x", "b") + "--abc--"},
      {"two names", kMultipartType, PartOf("name=a; name=b", "b") + "--abc--"},
      {"open quote", kMultipartType, PartOf("name=\"a", "b") + "--abc--"},
      {"no head", kMultipartType, "--abc\r\nb\r\n--abc--"},
      {"long head", kMultipartType,
       PartOf("name=a\r\nX: " + std::string(3000, 'x'), "b") + "--abc--"},
      {"encoded", kMultipartType,
       PartOf("name=a\r\nContent-Transfer-Encoding: base64", "b") + "--abc--"},
      {"no form-data", kMultipartType,
       "--abc\r\nContent-Disposition: file; name=a\r\n\r\nb\r\n--abc--"},
      {"no UTF-8", kMultipartType, PartOf("name=a", "\xff") + "--abc--"},
      {"no UTF-8 in %", kUrlencodedType, "a=%ff"},
      {"half a %", kUrlencodedType, "a=%f"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Shown(ParseFormBody(c.type, c.body)), "UNDECODABLE_REQUEST") << c.name;
  }
}

TEST(FormBody, HasALimitOfParts) {
  std::string most;
  std::string fields;
  for (int i = 0; i < kMaxFormParts; ++i) {
    most += PartOf(absl::StrCat("name=a", i), "b");
    absl::StrAppend(&fields, "a", i, "=b&");
  }
  EXPECT_TRUE(ParseFormBody(kMultipartType, most + "--abc--").ok());
  EXPECT_TRUE(ParseFormBody(kUrlencodedType, fields).ok());
  EXPECT_FALSE(ParseFormBody(kMultipartType, most + PartOf("name=b", "") + "--abc--").ok());
  EXPECT_FALSE(ParseFormBody(kUrlencodedType, fields + "b=c").ok());
}

}  // namespace
}  // namespace reel::front
