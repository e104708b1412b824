// SPDX-License-Identifier: Apache-2.0
#include "model/weights/safetensors_header.h"

#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::StatusOr<WeightHeader> Parse(const std::string& bytes) {
  return ParseSafetensorsHeader({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
}

TEST(SafetensorsHeader, ReadsTensorsInFileOrderWithAbsoluteOffsets) {
  const std::string header = R"({"b":{"dtype":"BF16","shape":[2,3],"data_offsets":[4,16]},)"
                             R"("a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})";
  const auto parsed = Parse(SafetensorsBytes(header, std::string(16, 'x')));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ASSERT_EQ(parsed->tensors.size(), 2u);
  EXPECT_EQ(parsed->tensors[0].name, "a");
  EXPECT_THAT(parsed->tensors[0].shape, IsEmpty());
  EXPECT_EQ(parsed->tensors[0].begin, 8 + static_cast<int64_t>(header.size()));
  EXPECT_EQ(parsed->tensors[1].type, TensorType::kBf16);
  EXPECT_THAT(parsed->tensors[1].shape, ElementsAre(2, 3));
}

TEST(SafetensorsHeader, AllowsPaddingEmptyTensorsAndMetadata) {
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"e":{"dtype":"F32","shape":[0,7],"data_offsets":[0,0]},)"
      R"("t":{"shape":[1],"data_offsets":[0,1],"dtype":"F8_E4M3"}}      )";
  const auto parsed = Parse(SafetensorsBytes(header, "x"));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->metadata.at("format"), "pt");
  EXPECT_EQ(parsed->tensors[1].type, TensorType::kF8E4M3);
}

struct Hostile {
  const char* what;
  std::string bytes;
  const char* says;  // part of the message
};

// One tensor of four floats, with parts exchanged.
std::string With(const std::string& dtype, const std::string& shape, const std::string& offsets,
                 size_t data_bytes = 16) {
  return SafetensorsBytes(
      "{\"w\":{\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}}",
      std::string(data_bytes, 'd'));
}

std::string Entry(const std::string& name, int begin, int end) {
  return "\"" + name + "\":{\"dtype\":\"F32\",\"shape\":[" + std::to_string((end - begin) / 4) +
         "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]}";
}

std::string LengthOnly(uint64_t length, const std::string& rest) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + rest;
}

std::string ManyTensors(int count) {
  std::string header = "{";
  for (int i = 0; i < count; ++i) header += Entry("t" + std::to_string(i), 0, 0) + ",";
  header.back() = '}';
  return SafetensorsBytes(header, "");
}

std::vector<Hostile> HostileLayouts() {
  return {
      {"no byte", "", "too short"},
      {"seven bytes", "1234567", "too short"},
      {"a length beyond the file", LengthOnly(100, "{}"), "ends inside its header"},
      {"a length of 2^64 - 1", LengthOnly(~uint64_t{0}, "{}"), "header is too long"},
      {"a length of 2^63", LengthOnly(uint64_t{1} << 63, "{}"), "header is too long"},
      {"100 MB of header", LengthOnly(100'000'000, std::string(64, ' ')), "header is too long"},
      {"a header of no byte", LengthOnly(0, ""), "not JSON"},
      {"a truncated header", SafetensorsBytes(R"({"w":{"dtype":"F32")", ""), "not JSON"},
      {"text after the header", SafetensorsBytes("{}{}", ""), "not JSON"},
      {"invalid UTF-8", SafetensorsBytes("{\"\xff\xfe\":1}", ""), "not JSON"},
      {"a NUL in the header", SafetensorsBytes(std::string("{}\0", 3), ""), "not JSON"},
      {"bytes after the last tensor", With("\"F32\"", "[4]", "[0,16]", 20), "last tensor: 4 bytes"},
      {"data of no tensor", SafetensorsBytes("{}", "abcd"), "last tensor: 4 bytes"},
      {"a file cut in its data", With("\"F32\"", "[4]", "[0,16]", 15), "outside the file: w"},
      {"offsets in reverse", With("\"F32\"", "[4]", "[16,0]"), "outside the file: w"},
      {"offsets that wrap", With("\"F32\"", "[4]", "[9223372036854775800,9223372036854775807]"),
       "outside the file: w"},
      {"a hole in front", With("\"F32\"", "[4]", "[4,20]", 20), "gap before a tensor: w"},
      {"a hole between",
       SafetensorsBytes("{" + Entry("a", 0, 4) + "," + Entry("b", 8, 12) + "}",
                        std::string(12, 'd')),
       "gap before a tensor: b"},
      {"an overlap",
       SafetensorsBytes("{" + Entry("a", 0, 8) + "," + Entry("b", 4, 12) + "}",
                        std::string(12, 'd')),
       "overlaps the one before it: b"},
      {"two names for the same bytes",
       SafetensorsBytes("{" + Entry("a", 0, 8) + "," + Entry("b", 0, 8) + "}", std::string(8, 'd')),
       "overlaps the one before it: b"},
      {"20,001 tensors", ManyTensors(20'001), "too many tensors"},
  };
}

std::vector<Hostile> HostileEntries() {
  const std::string f32 = "\"F32\"";
  return {
      {"an array as header", SafetensorsBytes("[]", ""), "not a JSON object"},
      {"a number as header", SafetensorsBytes("7", ""), "not a JSON object"},
      {"a tensor that is null", SafetensorsBytes(R"({"w":null})", ""), "not an object"},
      {"a tensor that is a list", SafetensorsBytes(R"({"w":[1]})", ""), "not an object"},
      {"a tensor that is a number", SafetensorsBytes(R"({"w":3})", ""), "not an object"},
      {"too short a shape", With(f32, "[3]", "[0,16]"), "not that of its shape: w"},
      {"the wrong dtype's size", With("\"F64\"", "[4]", "[0,16]"), "not that of its shape: w"},
      {"an unknown dtype", With("\"F31\"", "[4]", "[0,16]"), "unknown dtype: w"},
      {"a dtype in lower case", With("\"f32\"", "[4]", "[0,16]"), "unknown dtype: w"},
      {"a dtype that is a number", With("3", "[4]", "[0,16]"), "'dtype' cannot be a number"},
      {"a negative size", With(f32, "[-4]", "[0,16]"), "a negative number: w"},
      {"a size with a fraction", With(f32, "[4.5]", "[0,16]"), "not an integer in range: w"},
      {"a size of 1e300", With(f32, "[1e300]", "[0,16]"), "not an integer in range: w"},
      {"a size of 2^64", With(f32, "[18446744073709551616]", "[0,16]"), "not an integer in range"},
      {"a size of 2^63", With(f32, "[9223372036854775808]", "[0,16]"), "above 2^63 - 1: w"},
      {"sizes that overflow to 16 bytes", With(f32, "[4611686018427387905,4]", "[0,16]"),
       "overflows: w"},
      {"sizes that overflow to 0", With(f32, "[4294967296,4294967296]", "[0,0]", 0),
       "overflows: w"},
      {"an overflow before a zero", With(f32, "[4294967296,4294967296,0]", "[0,0]", 0),
       "overflows: w"},
      {"nine dimensions", With(f32, "[1,1,1,1,1,1,1,1,4]", "[0,16]"), "too many dimensions: w"},
      {"a size that is a string", With(f32, R"(["4"])", "[0,16]"), "cannot hold a string: w"},
      {"a list in a shape", With(f32, "[[4]]", "[0,16]"), "cannot hold an array: w"},
      {"a shape that is a number", With(f32, "4", "[0,16]"), "'shape' cannot be a number"},
      {"one offset", With(f32, "[4]", "[16]"), "fewer than two numbers: w"},
      {"three offsets", With(f32, "[4]", "[0,16,16]"), "more than two numbers: w"},
      {"a negative offset", With(f32, "[4]", "[-16,0]"), "a negative number: w"},
      {"no dtype", SafetensorsBytes(R"({"w":{"shape":[],"data_offsets":[0,0]}})", ""), "lacks one"},
      {"no offsets", SafetensorsBytes(R"({"w":{"dtype":"F32","shape":[0]}})", ""), "lacks one"},
      {"an unknown field",
       SafetensorsBytes(R"({"w":{"dtype":"F32","shape":[0],"data_offsets":[0,0],"x":1}})", ""),
       "unknown field: w"},
      {"a field that appears twice", SafetensorsBytes(R"({"w":{"dtype":"F32","dtype":"F16"}})", ""),
       "field appears twice: w"},
      {"a tensor that appears twice",
       SafetensorsBytes("{" + Entry("a", 0, 4) + "," + Entry("a", 4, 8) + "}", "12345678"),
       "a tensor appears twice: a"},
      {"metadata that appears twice",
       SafetensorsBytes(R"({"__metadata__":{},"__metadata__":{}})", ""), "appears twice"},
      {"a metadata key that appears twice",
       SafetensorsBytes(R"({"__metadata__":{"a":"1","a":"2"}})", ""), "appears twice: a"},
      {"metadata that is a number", SafetensorsBytes(R"({"__metadata__":{"a":1}})", ""),
       "not a string"},
      {"metadata that is nested", SafetensorsBytes(R"({"__metadata__":{"a":{}}})", ""),
       "not a string"},
      {"a name of 513 bytes", SafetensorsBytes("{\"" + std::string(513, 'n') + "\":{}}", ""),
       "name is too long"},
      {"a million open brackets",
       SafetensorsBytes(R"({"w":{"shape":)" + std::string(1'000'000, '['), ""), "an array: w"},
  };
}

class HostileFile : public ::testing::TestWithParam<Hostile> {};

TEST_P(HostileFile, IsRefusedWithTheRule) {
  const auto parsed = Parse(GetParam().bytes);
  ASSERT_FALSE(parsed.ok()) << GetParam().what;
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(GetParam().says))
      << GetParam().what;
}

INSTANTIATE_TEST_SUITE_P(Layouts, HostileFile, ::testing::ValuesIn(HostileLayouts()));
INSTANTIATE_TEST_SUITE_P(Entries, HostileFile, ::testing::ValuesIn(HostileEntries()));

TEST(SafetensorsHeader, RefusesEveryPrefixOfAGoodFile) {
  const std::string good = SafetensorsOf({{"a", {2, 3}}, {"b", {}}}, R"({"k":"v"})");
  ASSERT_TRUE(Parse(good).ok());
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(Parse(good.substr(0, size)).ok()) << size;
  }
}

}  // namespace
}  // namespace reel::model
