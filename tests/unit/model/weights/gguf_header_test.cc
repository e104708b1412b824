// SPDX-License-Identifier: Apache-2.0
#include "model/weights/gguf_header.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/gguf_bytes.h"

namespace reel::model {
namespace {

using reel::testing::Bytes;
using reel::testing::GgufFile;
using reel::testing::GgufPair;
using reel::testing::GgufTensor;
using reel::testing::GgufText;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint32_t kF32 = 0, kQ8_0 = 8;

absl::StatusOr<WeightHeader> Parse(const std::string& bytes) {
  return ParseGgufHeader({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
}

std::string Refusal(const std::string& bytes) {
  const auto header = Parse(bytes);
  EXPECT_EQ(header.status().code(), absl::StatusCode::kFailedPrecondition);
  return std::string(header.status().message());
}

const GgufTensor kTensor = {"w", {2, 3}, kF32, std::string(24, '\1')};
const GgufTensor kCoded = {"coded", {2, 32}, kQ8_0, std::string(68, '\2')};

std::string WithPair(const std::string& pair) { return GgufFile({pair}, {kTensor}); }
std::string WithTensor(const GgufTensor& tensor) { return GgufFile({}, {tensor}); }

std::string Good() {
  return GgufFile(
      {GgufPair("general.architecture", "ltxv"), GgufPair("a.count", 4, Bytes(7u)),
       GgufPair("a.flag", 7, Bytes(uint8_t{1})), GgufPair("a.byte", 1, Bytes(int8_t{-3})),
       GgufPair("a.words", 9,
                Bytes(uint32_t{8}) + Bytes(uint64_t{2}) + GgufText("x") + GgufText("")),
       GgufPair("comfy.gguf.orig_shape.coded", 9,
                Bytes(uint32_t{5}) + Bytes(uint64_t{3}) + Bytes(int32_t{4}) + Bytes(int32_t{1}) +
                    Bytes(int32_t{16}))},
      {kTensor, kCoded});
}

TEST(GgufHeader, ReadsMetadataAsTextAndTensorsInTorchsOrder) {
  const std::string bytes = Good();
  const auto header = Parse(bytes);
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->metadata.at("general.architecture"), "ltxv");
  EXPECT_EQ(header->metadata.at("a.count"), "7");
  EXPECT_EQ(header->metadata.at("a.flag"), "true");
  EXPECT_EQ(header->metadata.at("a.byte"), "-3");
  EXPECT_EQ(header->metadata.count("a.words"), 0u);
  ASSERT_EQ(header->tensors.size(), 2u);
  const TensorEntry &plain = header->tensors[0], &coded = header->tensors[1];
  EXPECT_THAT(plain.shape, ElementsAre(2, 3));
  EXPECT_EQ(plain.end - plain.begin, 24);
  EXPECT_EQ(plain.begin % 32, 0);
  EXPECT_THAT(coded.shape, ElementsAre(4, 1, 16));
  EXPECT_EQ(coded.type, TensorType::kQ8_0);
  EXPECT_EQ(coded.begin, plain.begin + 32);
  EXPECT_EQ(bytes.substr(static_cast<size_t>(coded.begin), 68), kCoded.data);
}

TEST(GgufHeader, FollowsTheFilesAlignment) {
  const std::string pair = GgufPair("general.alignment", 4, Bytes(64u));
  const auto header = Parse(GgufFile({pair}, {kTensor, kCoded}, 64));
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->tensors[0].begin % 64, 0);
  EXPECT_EQ(header->tensors[1].begin, header->tensors[0].begin + 64);
}

TEST(GgufHeader, ReadsVersion2) {
  std::string bytes = Good();
  bytes[4] = 2;
  EXPECT_TRUE(Parse(bytes).ok());
}

TEST(GgufHeader, RefusesEveryPrefixOfAGoodFile) {
  const std::string good = Good();
  // The last tensor's padding may be missing.
  const size_t needed = good.size() - 28;
  for (size_t length = 0; length < needed; ++length) {
    ASSERT_FALSE(Parse(good.substr(0, length)).ok()) << length;
  }
  EXPECT_TRUE(Parse(good.substr(0, needed)).ok());
}

// Each is refused or read; what is read lies within the file.
TEST(GgufHeader, SurvivesEveryFlippedByte) {
  const std::string good = Good();
  const auto data = static_cast<size_t>(Parse(good)->tensors[0].begin);
  for (size_t at = 0; at < data; ++at) {
    for (const int flip : {1, 0x80, 0xff}) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ flip);
      const auto header = Parse(bytes);
      if (!header.ok()) continue;
      for (const TensorEntry& tensor : header->tensors) {
        ASSERT_TRUE(tensor.begin <= tensor.end && tensor.end <= static_cast<int64_t>(bytes.size()));
      }
    }
  }
}

TEST(GgufHeader, RefusesOtherVersionsAndByteOrders) {
  for (const uint32_t version : {0u, 1u, 4u}) {
    EXPECT_THAT(Refusal("GGUF" + Bytes(version) + Good().substr(8)), HasSubstr("versions 2 and 3"));
  }
  for (const uint32_t version : {0x02000000u, 0x03000000u}) {
    EXPECT_THAT(Refusal("GGUF" + Bytes(version) + Good().substr(8)), HasSubstr("big-endian"));
  }
  EXPECT_THAT(Refusal("GGML"), HasSubstr("does not begin"));
}

TEST(GgufHeader, AllocatesNothingByTheFilesCounts) {
  const uint64_t many = uint64_t{1} << 63;
  const std::string begin = "GGUF" + Bytes(uint32_t{3});
  EXPECT_THAT(Refusal(begin + Bytes(many) + Bytes(uint64_t{0})), HasSubstr("1 to 20000 tensors"));
  EXPECT_THAT(Refusal(begin + Bytes(uint64_t{0}) + Bytes(uint64_t{0})), HasSubstr("not 0"));
  EXPECT_THAT(Refusal(begin + Bytes(uint64_t{1}) + Bytes(many)), HasSubstr("too many keys"));
  EXPECT_THAT(Refusal(begin + Bytes(uint64_t{20'000}) + Bytes(uint64_t{4096})),
              HasSubstr("ends inside its header"));
  for (const uint64_t count : {many, std::numeric_limits<uint64_t>::max()}) {
    EXPECT_THAT(Refusal(WithPair(GgufPair("a", 8, Bytes(count)))), HasSubstr("ends inside"));
    EXPECT_THAT(Refusal(WithPair(GgufPair("a", 9, Bytes(uint32_t{4}) + Bytes(count)))),
                HasSubstr("an array is too long: 'a'"));
  }
  EXPECT_THAT(Refusal(WithPair(GgufPair("a", 9, Bytes(uint32_t{10}) + Bytes(uint64_t{1} << 20)))),
              HasSubstr("ends inside"));
  EXPECT_THAT(Refusal(WithPair(GgufPair("a", std::string((1 << 20) + 1, 'x')))),
              HasSubstr("too long"));
}

TEST(GgufHeader, RefusesKeysAndValuesThatAreNone) {
  EXPECT_THAT(Refusal(GgufFile({GgufPair("a", "x"), GgufPair("a", "x")}, {kTensor})),
              HasSubstr("comes twice: 'a'"));
  EXPECT_THAT(Refusal(WithPair(GgufPair("", "x"))), HasSubstr("printable"));
  EXPECT_THAT(Refusal(WithPair(GgufPair(std::string("a\0b", 3), "x"))), HasSubstr("printable"));
  EXPECT_THAT(Refusal(WithPair(GgufPair(std::string(64 << 10, 'k'), "x"))), HasSubstr("too long"));
  EXPECT_THAT(Refusal(WithPair(GgufPair("a", "\xff"))), HasSubstr("not UTF-8"));
  EXPECT_THAT(Refusal(WithPair(GgufPair("a", 7, Bytes(uint8_t{2})))), HasSubstr("0 or 1"));
  EXPECT_THAT(Refusal(WithPair(GgufPair("a", 13, Bytes(uint64_t{0})))), HasSubstr("type 13"));
  EXPECT_THAT(Refusal(WithPair(GgufPair("a", 9, Bytes(uint32_t{9}) + Bytes(uint64_t{1})))),
              HasSubstr("array of arrays"));
  EXPECT_THAT(Refusal(WithPair(GgufPair("a", 9, Bytes(uint32_t{13}) + Bytes(uint64_t{1})))),
              HasSubstr("type 13"));
  EXPECT_THAT(Refusal(WithPair(GgufPair("split.count", 2, Bytes(uint16_t{3})))),
              HasSubstr("one of several"));
}

TEST(GgufHeader, RefusesAlignmentsThatAreNone) {
  for (const uint32_t alignment : {0u, 3u, 4u, 1u << 17, 1u << 31}) {
    EXPECT_THAT(Refusal(WithPair(GgufPair("general.alignment", 4, Bytes(alignment)))),
                HasSubstr("power of two"));
  }
  EXPECT_THAT(Refusal(WithPair(GgufPair("general.alignment", 5, Bytes(int32_t{32})))),
              HasSubstr("must be a u32"));
  EXPECT_THAT(Refusal(WithPair(GgufPair("general.alignment", "32"))), HasSubstr("must be a u32"));
}

TEST(GgufHeader, RefusesShapesThatWrapOrAreNone) {
  const auto shaped = [](const std::vector<uint64_t>& sides) {
    return Refusal(WithTensor({"w", sides, kF32, std::string(24, '\0')}));
  };
  const uint64_t large = (uint64_t{1} << 31) - 1;
  EXPECT_THAT(shaped({}), HasSubstr("one to four sides"));
  EXPECT_THAT(shaped({1, 1, 1, 1, 1}), HasSubstr("one to four sides"));
  EXPECT_THAT(shaped({0, 3}), HasSubstr("1 to 2^31"));
  EXPECT_THAT(shaped({uint64_t{1} << 63}), HasSubstr("1 to 2^31"));
  EXPECT_THAT(shaped({std::numeric_limits<int64_t>::max(), 2}), HasSubstr("1 to 2^31"));
  EXPECT_THAT(shaped({(uint64_t{1} << 42) + 1}), HasSubstr("1 to 2^31"));
  EXPECT_THAT(shaped({large, large}), HasSubstr("too large"));
  EXPECT_THAT(shaped({large, large, large, large}), HasSubstr("too large"));
  EXPECT_THAT(shaped({1 << 20, 1 << 20}), HasSubstr("outside the file"));
  EXPECT_THAT(Refusal(WithTensor({"w", {2, 48}, kQ8_0, std::string(102, '\0')})),
              HasSubstr("not whole blocks"));
}

TEST(GgufHeader, RefusesTypesThatReelDoesNotRead) {
  for (const uint32_t type : {4u, 5u, 9u, 15u, 16u, 24u, 31u, 33u, 36u, 38u, 39u, 1000u}) {
    EXPECT_THAT(Refusal(WithTensor({"w", {256}, type, std::string(512, '\0')})),
                HasSubstr("'w': number " + std::to_string(type)));
  }
}

TEST(GgufHeader, RefusesNamesAndPlacesThatAreWrong) {
  EXPECT_THAT(Refusal(GgufFile({}, {kTensor, kTensor})), HasSubstr("comes twice: 'w'"));
  EXPECT_THAT(Refusal(WithTensor({"", {1}, kF32, "abcd"})), HasSubstr("empty"));
  EXPECT_THAT(Refusal(WithTensor({std::string("a\0", 2), {1}, kF32, "abcd"})), HasSubstr("NUL"));
  EXPECT_THAT(Refusal(WithTensor({std::string(257, 'n'), {1}, kF32, "abcd"})),
              HasSubstr("too long"));
  // The offset is the last of a tensor's entry; of a single one its eight bytes are found from the
  // header's end.
  const std::string good = WithTensor(kTensor);
  const size_t offset = 24 + 9 + 4 + 16 + 4;
  for (const uint64_t wrong : {uint64_t{8}, uint64_t{32}, ~uint64_t{0}, uint64_t{1} << 63}) {
    std::string bytes = good;
    bytes.replace(offset, 8, Bytes(wrong));
    EXPECT_THAT(Refusal(bytes), HasSubstr("does not lie behind"));
  }
  EXPECT_THAT(Refusal(good + std::string(32, '\0')), HasSubstr("extra bytes"));
}

TEST(GgufHeader, GivesNotedShapesOnlyWhereTheyFit) {
  const auto noted = [](const std::string& name, const std::vector<int32_t>& shape) {
    std::string value = Bytes(uint32_t{5}) + Bytes(uint64_t{shape.size()});
    for (const int32_t side : shape) value += Bytes(side);
    return Refusal(WithPair(GgufPair("comfy.gguf.orig_shape." + name, 9, value)));
  };
  EXPECT_THAT(noted("w", {2, 2}), HasSubstr("another number of values"));
  EXPECT_THAT(noted("w", {2, 6}), HasSubstr("another number of values"));
  EXPECT_THAT(noted("w", {1, 1, 1, 1, 1, 6}), HasSubstr("one to five"));
  EXPECT_THAT(noted("w", {}), HasSubstr("one to five"));
  EXPECT_THAT(noted("w", {-2, -3}), HasSubstr("above 0"));
  EXPECT_THAT(noted("gone", {6}), HasSubstr("that of no tensor: 'gone'"));
  EXPECT_THAT(Refusal(WithPair(GgufPair("comfy.gguf.orig_shape.w", "6"))),
              HasSubstr("array of i32"));
}

}  // namespace
}  // namespace reel::model
