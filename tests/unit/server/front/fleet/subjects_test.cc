// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/subjects.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace reel::front {
namespace {

TEST(Subjects, AreMadeAndReadBack) {
  const std::vector<std::pair<LogSubject, std::string>> cases = {
      {{"t1", "prod-abc", LogKind::kRequest, 0}, "j.t1.prod-abc.q"},
      {{"t1", "prod-abc", LogKind::kClaim, 1}, "j.t1.prod-abc.c.1"},
      {{"t1", "prod-abc", LogKind::kFinish, 12}, "j.t1.prod-abc.f.12"},
      {{"t1", "6f1c-0b", LogKind::kBinding, 2}, "j.t1.6f1c-0b.r.2"},
      {{"a_b-C9", "x", LogKind::kCancel, 0}, "j.a_b-C9.x.x"},
      {{"t1", "prod-abc", LogKind::kDelete, 0}, "j.t1.prod-abc.d"},
      {{"acme.film", "x", LogKind::kRequest, 0}, "j.acme~film.x.q"},
      {{"t", "x", LogKind::kClaim, 999'999'999}, "j.t.x.c.999999999"},
  };
  for (const auto& [subject, text] : cases) {
    const auto made = MakeSubject(subject);
    ASSERT_TRUE(made.ok()) << text;
    EXPECT_EQ(*made, text);
    const auto read = ParseSubject(text);
    ASSERT_TRUE(read.ok()) << text;
    EXPECT_EQ(*read, subject);
  }
}

TEST(Subjects, WhatNamesNothingIsNotMade) {
  const std::string long_name(65, 'a');
  for (const std::string& name :
       {std::string(), std::string("a b"), std::string("a*"), std::string(">"), std::string("a~b"),
        std::string("a\0b", 3), std::string("\r\nPUB x 0"), std::string("ü"), long_name}) {
    EXPECT_FALSE(MakeSubject({name, "id", LogKind::kRequest, 0}).ok()) << name;
    EXPECT_FALSE(MakeSubject({"t", name, LogKind::kRequest, 0}).ok()) << name;
    EXPECT_FALSE(MakeBeatSubject(name).ok()) << name;
  }
  EXPECT_FALSE(MakeSubject({"t", "id", LogKind::kRequest, 1}).ok());
  EXPECT_FALSE(MakeSubject({"t", "id", LogKind::kCancel, 1}).ok());
  EXPECT_FALSE(MakeSubject({"t", "id", LogKind::kClaim, 0}).ok());
  EXPECT_FALSE(MakeSubject({"t", "id", LogKind::kFinish, 1'000'000'000}).ok());
}

TEST(Subjects, HostileTextIsRefused) {
  for (const std::string& text :
       std::vector<std::string>{"",
                                ".",
                                "reel.j.t.id.q",
                                "j",
                                "j.",
                                "j...",
                                "j.t.id",
                                "j.t.id.",
                                "j.t.id.q.1",
                                "j.t.id.q.",
                                "j.t.id.c",
                                "j.t.id.c.",
                                "j.t.id.r",
                                "j.t.id.r.0",
                                "j.t.id.c.0",
                                "j.t.id.c.01",
                                "j.t.id.c.+1",
                                "j.t.id.c.-1",
                                "j.t.id.c. 1",
                                "j.t.id.c.1.",
                                "j.t.id.c.1.1",
                                "j.t.id.c.4294967297",
                                "j.t.id.c.1000000000",
                                "j.t.id.c.1e3",
                                "j.t.id.c.0x1",
                                "j.t.id.C.1",
                                "j.t.id.z",
                                "j..id.q",
                                "j.t..q",
                                "j.*.id.q",
                                "j.t.>",
                                "J.t.id.q",
                                "live.j.t.id.q",
                                " j.t.id.q",
                                "j.t.id.q ",
                                std::string("j.t.id.q\0", 9),
                                absl::StrCat("j.t.", std::string(65, 'a'), ".q"),
                                absl::StrCat("j.", std::string(1 << 20, '.'))}) {
    EXPECT_FALSE(ParseSubject(text).ok()) << text.substr(0, 80);
  }
  for (const std::string text : {"hb.", "hb.a.b", "hb.*", "reel.hb.a", ""}) {
    EXPECT_FALSE(ParseBeatSubject(text).ok()) << text;
  }
}

TEST(Subjects, OfBeatsNameTheNode) {
  EXPECT_EQ(MakeBeatSubject("gpu-7.example").value(), "hb.gpu-7~example");
  EXPECT_EQ(ParseBeatSubject("hb.gpu-7~example").value(), "gpu-7.example");
}

// What can be read is made again as the same text, whatever was written.
TEST(Subjects, NoTwoTextsAreOneMessage) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  std::mt19937 random(seed);
  const std::string alphabet = ".~*> 01a9-_qcfx+";
  int read = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string text = i % 2 == 0 ? "j.t.id." : "j.";
    const size_t more = random() % 12;
    for (size_t k = 0; k < more; ++k) text += alphabet[random() % alphabet.size()];
    const auto subject = ParseSubject(text);
    if (!subject.ok()) continue;
    ++read;
    ASSERT_EQ(MakeSubject(*subject).value(), text);
  }
  EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace reel::front
