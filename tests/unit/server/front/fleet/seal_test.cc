// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/seal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "absl/strings/escaping.h"

namespace reel::front {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string& KeyA() {
  static const std::string key(Seal::kKeyBytes, 'a');
  return key;
}
const std::string& KeyB() {
  static const std::string key(Seal::kKeyBytes, 'b');
  return key;
}

constexpr char kSealedText[] = "a red fox in the snow";
constexpr char kSealedUnder[] = "video/t/prod-1";

TEST(Seal, OpensWhatItHasClosedAndShowsNothingOfIt) {
  const Seal seal({KeyA()});
  for (const std::string& bytes :
       {std::string(), std::string("x"), std::string(kSealedText), std::string(5 << 20, 'x')}) {
    const std::string closed = seal.Close(bytes, kSealedUnder);
    EXPECT_TRUE(Seal::IsSealed(closed));
    EXPECT_EQ(closed.size(), bytes.size() + Seal::kOverhead);
    if (bytes.size() > 1) {
      EXPECT_THAT(closed, Not(HasSubstr(bytes.substr(0, 16))));
    }
    const auto opened = seal.Open(closed, kSealedUnder);
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(*opened, bytes);
  }
}

// As another implementation makes it (python3-cryptography): what is in logs must stay readable.
constexpr char kClosedByOther[] =
    "007265656c019b3af2b5e996c7873d6f7d54008f19e0201ecad47c1d6133858f1a9217beca3cae46a2085d296e9cbc"
    "53be2f44e072ff8c33de1789bbf9e700";

TEST(Seal, IsTheAes256GcmOfTheStandardAndStaysIt) {
  const Seal seal({KeyA()});
  const std::string closed = seal.Close(kSealedText, kSealedUnder);
  EXPECT_EQ(absl::BytesToHexString(closed), kClosedByOther);
  EXPECT_NE(seal.Close(kSealedText, "video/t/prod-2"), closed);
}

TEST(Seal, OneChangedBitAnywhereOpensNothing) {
  const Seal seal({KeyA()});
  const std::string closed = seal.Close(kSealedText, kSealedUnder);
  for (size_t i = 0; i < closed.size(); ++i) {
    std::string changed = closed;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    const auto opened = seal.Open(changed, kSealedUnder);
    // Without its mark it is something else, which nobody takes for a video.
    if (i < 6) {
      EXPECT_FALSE(Seal::IsSealed(changed)) << i;
    } else {
      EXPECT_FALSE(opened.ok()) << i;
    }
  }
}

TEST(Seal, WhatIsCutOffOrLongerOpensNothing) {
  const Seal seal({KeyA()});
  const std::string closed = seal.Close(kSealedText, kSealedUnder);
  for (size_t size = 6; size < closed.size(); ++size) {
    EXPECT_FALSE(seal.Open(closed.substr(0, size), kSealedUnder).ok()) << size;
  }
  EXPECT_FALSE(seal.Open(closed + "x", kSealedUnder).ok());
}

TEST(Seal, WhatLiesUnderAnotherNameOpensNothing) {
  const Seal seal({KeyA()});
  const std::string closed = seal.Close(kSealedText, kSealedUnder);
  for (const char* name : {"", "video/t/prod-2", "video/u/prod-1", "video/t/prod-1 "}) {
    EXPECT_TRUE(absl::IsDataLoss(seal.Open(closed, name).status())) << name;
  }
}

TEST(Seal, AKeyThatIsNotHereIsSaidByItsName) {
  const std::string closed = Seal({KeyA()}).Close(kSealedText, kSealedUnder);
  for (const Seal& other : {Seal({KeyB()}), Seal()}) {
    const absl::Status refused = other.Open(closed, kSealedUnder).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
    EXPECT_THAT(refused.message(), HasSubstr(Seal({KeyA()}).Ids()[0]));
  }
}

TEST(Seal, KeysAreChangedOneAfterAnother) {
  const Seal before({KeyA()}), behind({KeyA(), KeyB()}), front({KeyB(), KeyA()}), after({KeyB()});
  // Whoever has gone one step reads all who are a step behind or before it.
  const Seal* const steps[] = {&before, &behind, &front, &after};
  for (int i = 0; i < 4; ++i) {
    for (int j = std::max(0, i - 1); j < std::min(4, i + 2); ++j) {
      EXPECT_EQ(*steps[i]->Open(steps[j]->Close(kSealedText, kSealedUnder), kSealedUnder),
                kSealedText)
          << i << " " << j;
    }
  }
  EXPECT_FALSE(after.Open(before.Close(kSealedText, kSealedUnder), kSealedUnder).ok());
}

TEST(Seal, WithoutAKeyAllStaysAsItIs) {
  const Seal none;
  EXPECT_FALSE(none.enabled());
  EXPECT_EQ(none.Close(kSealedText, kSealedUnder), kSealedText);
  EXPECT_EQ(*none.Open(kSealedText, kSealedUnder), kSealedText);
  // An upgrade: what was written before there was a key.
  EXPECT_EQ(*Seal({KeyA()}).Open(kSealedText, kSealedUnder), kSealedText);
  EXPECT_EQ(none.NamesFor("spec/t", "hash"), std::vector<std::string>{"hash"});
}

TEST(Seal, NamesAreAlikeForWhoHasTheKeyAndForNobodyElse) {
  const Seal seal({KeyA(), KeyB()});
  const auto names = seal.NamesFor("spec/t", "hash");
  ASSERT_EQ(names.size(), 3U);
  EXPECT_EQ(names.back(), "hash");
  EXPECT_EQ(names, seal.NamesFor("spec/t", "hash"));
  EXPECT_EQ(names[1], Seal({KeyB()}).NamesFor("spec/t", "hash")[0]);
  const std::set<std::string> all = {names[0],
                                     names[1],
                                     seal.NamesFor("spec/u", "hash")[0],
                                     seal.NamesFor("spec/t", "hasj")[0],
                                     seal.NamesFor("condition/t", "hash")[0],
                                     seal.Ids()[0],
                                     seal.Ids()[1]};
  EXPECT_EQ(all.size(), 7U);
}

}  // namespace
}  // namespace reel::front
