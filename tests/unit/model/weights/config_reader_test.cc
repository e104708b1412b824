// SPDX-License-Identifier: Apache-2.0
#include "model/weights/config_reader.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

nlohmann::json Json(const std::string& text) { return *ParseJson(text, "test"); }

TEST(ConfigReader, TakesDefaultsForWhatIsMissingOrNull) {
  const auto json = Json(R"({"b":null,"unknown":{}})");
  ConfigReader reader(json, "c.json");
  EXPECT_EQ(reader.Int("a", 7, {1, 9}), 7);
  EXPECT_EQ(reader.Number("b", 0.5), 0.5);
  EXPECT_TRUE(reader.Bool("c", true));
  EXPECT_EQ(reader.String("d", "x"), "x");
  EXPECT_THAT(reader.Ints("e", {1, 2}, {0, 9}), ElementsAre(1, 2));
  EXPECT_TRUE(reader.status().ok());
}

TEST(ConfigReader, ReadsWhatIsThere) {
  const auto json =
      Json(R"({"a":3,"b":2,"c":false,"d":"y","e":[4,5],"f":[true],"g":["s"],"h":[[1],[2,3]]})");
  ConfigReader reader(json, "c.json");
  EXPECT_EQ(reader.Int("a", 7, {1, 9}), 3);
  EXPECT_EQ(reader.Number("b", 0.5), 2.0);
  EXPECT_FALSE(reader.Bool("c", true));
  EXPECT_EQ(reader.String("d", "x"), "y");
  EXPECT_THAT(reader.Ints("e", {}, {0, 9}), ElementsAre(4, 5));
  EXPECT_THAT(reader.Bools("f", {}), ElementsAre(true));
  EXPECT_THAT(reader.Strings("g", {}), ElementsAre("s"));
  EXPECT_THAT(reader.IntLists("h", {}, {0, 9}), ElementsAre(ElementsAre(1), ElementsAre(2, 3)));
  EXPECT_TRUE(reader.status().ok());
}

TEST(ConfigReader, RefusesByNameWhatNobodyAskedForWhereThatIsWanted) {
  const auto json = Json(R"({"_class_name":"C","a":1,"b":null,"new_key":2})");
  ConfigReader reader(json, "c.json");
  reader.Int("a", 0, {0, 9});
  reader.Bool("b", false);
  EXPECT_TRUE(reader.status().ok());
  reader.FailUnread();
  EXPECT_THAT(std::string(reader.status().message()), HasSubstr("c.json: new_key is not known"));
}

TEST(ConfigReader, SaysTheOnlyValueThatAKeyMayHave) {
  const auto json = Json(R"({"right":"gelu","wrong":"relu","yes":true,"no":true})");
  ConfigReader reader(json, "c.json");
  reader.Only("right", "gelu");
  reader.Only("missing", "gelu");
  reader.Only("yes", true);
  reader.Only("missing_too", false);
  EXPECT_TRUE(reader.status().ok());
  ConfigReader text(json, "c.json"), flag(json, "c.json");
  text.Only("wrong", "gelu");
  EXPECT_THAT(std::string(text.status().message()), HasSubstr("c.json: wrong must be gelu"));
  flag.Only("no", false);
  EXPECT_THAT(std::string(flag.status().message()), HasSubstr("c.json: no must be false"));
}

class BadConfig : public ::testing::TestWithParam<const char*> {};

TEST_P(BadConfig, NamesFileAndKey) {
  const auto json = Json(GetParam());
  ConfigReader reader(json, "c.json");
  reader.Int("i", 1, {1, 9});
  reader.Number("n", 1);
  reader.Bool("b", true);
  reader.String("s", "");
  reader.Ints("is", {}, {0, 9});
  reader.IntLists("iss", {}, {0, 9});
  reader.Bools("bs", {});
  reader.Strings("ss", {});
  EXPECT_EQ(reader.status().code(), absl::StatusCode::kFailedPrecondition);
  const std::string key = json.begin().key();
  EXPECT_THAT(std::string(reader.status().message()),
              AllOf(HasSubstr("c.json"), HasSubstr(": " + key + " ")));
}

INSTANTIATE_TEST_SUITE_P(All, BadConfig,
                         ::testing::Values(R"({"i":0})", R"({"i":10})", R"({"i":1.5})",
                                           R"({"i":"3"})", R"({"i":18446744073709551615})",
                                           R"({"i":-9223372036854775808})", R"({"n":"1"})",
                                           R"({"b":1})", R"({"s":1})", R"({"is":1})",
                                           R"({"is":[1,10]})", R"({"is":[1,"2"]})",
                                           R"({"iss":[1]})", R"({"iss":[[1],[10]]})",
                                           R"({"bs":[1]})", R"({"ss":[1]})"));

TEST(ConfigReader, TakesKeysThatAreIgnoredForRead) {
  const nlohmann::json json = {{"width", 3}, {"note", "x"}};
  ConfigReader reader(json, "c");
  reader.Int("width", 1, {1, 9});
  reader.Ignore({"note", "missing"});
  reader.FailUnread();
  EXPECT_TRUE(reader.status().ok()) << reader.status();
  ConfigReader other(json, "c");
  other.Ignore({"note"});
  other.FailUnread();
  EXPECT_NE(std::string(other.status().message()).find("width is not known"), std::string::npos);
}

TEST(JsonFile, RefusesWhatIsDeepLongOrNoObject) {
  EXPECT_FALSE(ParseJson("[1]", "t").ok());
  EXPECT_FALSE(ParseJson("{\"a\":1", "t").ok());
  EXPECT_FALSE(ParseJson(std::string(9 << 20, ' ') + "{}", "t").ok());
  EXPECT_FALSE(
      ParseJson("{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}", "t").ok());
  const reel::testing::TempFolder folder;
  EXPECT_TRUE(ReadJsonFile(folder.Write("ok.json", "{\"a\":[[1]]}")).ok());
  EXPECT_EQ(ReadJsonFile(folder.path() + "/none.json").status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace reel::model
