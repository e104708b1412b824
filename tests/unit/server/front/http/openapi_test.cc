// SPDX-License-Identifier: Apache-2.0
// The description against what it describes: the table of routes, the descriptors, real replies.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "reel/v1/video_service.pb.h"
#include "server/front/http/facade_words.h"
#include "server/front/http/openapi_schema.h"
#include "tests/unit/server/front/http/door_site.h"

namespace reel::front {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Problems = std::vector<std::string>;

const char kOpenapiJson[] = "application/json";

const json& Document() {
  static const json document = json::parse(OpenApiJson("1.2.3"));
  return document;
}

const json& Schemas() { return Document()["components"]["schemas"]; }

bool HasType(const json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  return type == (value.is_number() ? "number" : value.type_name());
}

// More than a schema asks: a member that it does not name is a problem, too.
void Check(const json& schema, const json& value, const std::string& path, Problems& problems) {
  if (schema.contains("$ref")) {
    const json::json_pointer place(schema["$ref"].get<std::string>().substr(1));
    return Check(Document().at(place), value, path, problems);
  }
  if (schema.contains("type")) {
    const json types = schema["type"].is_array() ? schema["type"] : json{schema["type"]};
    const bool fits = std::any_of(types.begin(), types.end(), [&](const json& type) {
      return HasType(value, type.get<std::string>());
    });
    if (!fits) problems.push_back(absl::StrCat(path, " is a ", value.type_name()));
  }
  if (schema.contains("enum") &&
      std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end()) {
    problems.push_back(absl::StrCat(path, " is ", value.dump()));
  }
  if (value.is_array()) {
    for (const json& element : value) Check(schema.at("items"), element, path + "[]", problems);
  }
  if (!value.is_object()) return;
  for (const json& name : schema.value("required", json::array())) {
    if (!value.contains(name.get<std::string>())) {
      problems.push_back(absl::StrCat(path, " has no ", name.get<std::string>()));
    }
  }
  const json more = schema.value("additionalProperties", json());
  for (const auto& [name, member] : value.items()) {
    const std::string inner = absl::StrCat(path, ".", name);
    if (schema.contains("properties") && schema["properties"].contains(name)) {
      Check(schema["properties"][name], member, inner, problems);
    } else if (more.is_object()) {
      Check(more, member, inner, problems);
    } else if (more != true) {
      problems.push_back(inner + " is not described");
    }
  }
}

const json& OperationOf(const DoorRouteRow& row) {
  const std::string method = absl::AsciiStrToLower(std::string(row.method));
  return Document()["paths"].at(std::string(row.pattern)).at(method);
}

Problems CheckReply(const DoorRouteRow& row, const httplib::Response& reply) {
  const json& responses = OperationOf(row)["responses"];
  const std::string status = absl::StrCat(reply.status);
  const json& response = responses.contains(status) ? responses[status] : responses["default"];
  const std::string whole = reply.get_header_value("Content-Type");
  const std::string type = whole.substr(0, whole.find(';'));
  if (!response["content"].contains(type)) return {absl::StrCat(status, " has the type ", type)};
  Problems problems;
  if (type == kOpenapiJson) {
    Check(response["content"][type]["schema"], json::parse(reply.body), status, problems);
  }
  return problems;
}

// With everything that a message can hold in it.
ServedModel SomeModel() {
  ServedModel model;
  model.is_default = true;
  model.card.name = "lab-1";
  model.card.defaults.frame_rate = 24;
  model.card.presets.emplace_back();
  return model;
}

void FillSite(DoorSite& site) {
  const auto job = site.jobs.Add("lab-1");
  job->Media("abc");
  job->Succeed();
  ListPage page;
  page.videos = {job->Snapshot()};
  page.more = true;
  site.jobs.SetPage(page);
  site.jobs.SetModels({SomeModel()});
  site.jobs.SetWorkers({WorkerInfo{}});
  ExperimentReport experiment;
  experiment.options = {"norms", "lab", 0.1, {{"old", "auto", 0.75}, {"new", "mine", 0.25}}};
  experiment.arms = {{30, 1}, {10, 0}};
  site.jobs.SetExperiments({experiment});
}

httplib::Request RequestFor(const DoorRouteRow& row, const std::string& id) {
  httplib::Request request;
  request.method = std::string(row.method);
  request.path = absl::StrReplaceAll(std::string(row.pattern), {{"{id}", id}});
  if (row.takes != DoorTakes::kNothing) {
    request.body = row.takes == DoorTakes::kJson
                       ? R"({"spec": {"prompt": "a red circle", "kernels": {"profile": "auto"}}})"
                       : R"({"prompt": "a red circle"})";
    request.headers.emplace("Content-Type", kOpenapiJson);
  }
  return request;
}

TEST(OpenApi, HasEveryRouteAndNoOther) {
  std::set<std::string> served;
  for (const DoorRouteRow& row : AllDoorRoutes()) {
    if (IsOfPage(row.route)) continue;
    const std::string method = absl::AsciiStrToLower(std::string(row.method));
    served.insert(absl::StrCat(method, " ", std::string(row.pattern)));
    if (row.head) served.insert("head " + std::string(row.pattern));
  }
  std::set<std::string> described;
  std::set<std::string> ids;
  for (const auto& [path, operations] : Document()["paths"].items()) {
    for (const auto& [method, operation] : operations.items()) {
      described.insert(absl::StrCat(method, " ", path));
      EXPECT_TRUE(ids.insert(operation["operationId"].get<std::string>()).second) << path;
    }
  }
  EXPECT_EQ(described, served);
}

TEST(OpenApi, HasEveryFieldOfTheProto) {
  std::set<std::string> seen;
  std::vector<const google::protobuf::Descriptor*> left = {v1::Video::descriptor(),
                                                           v1::CreateVideoRequest::descriptor(),
                                                           v1::EstimateVideoResponse::descriptor()};
  while (!left.empty()) {
    const auto* type = left.back();
    left.pop_back();
    if (!absl::StartsWith(type->full_name(), "reel.") || !seen.insert(type->full_name()).second) {
      continue;
    }
    ASSERT_TRUE(Schemas().contains(type->full_name())) << type->full_name();
    const json& properties = Schemas()[type->full_name()]["properties"];
    EXPECT_EQ(properties.size(), static_cast<size_t>(type->field_count())) << type->full_name();
    for (int i = 0; i < type->field_count(); ++i) {
      const auto* field = type->field(i);
      ASSERT_TRUE(properties.contains(field->json_name())) << field->full_name();
      const json& schema = properties[field->json_name()];
      if (field->is_repeated() && !field->is_map()) {
        EXPECT_EQ(schema["type"], "array");
      }
      if (field->enum_type() != nullptr && !field->is_repeated()) {
        EXPECT_EQ(schema["enum"].size(), static_cast<size_t>(field->enum_type()->value_count()));
      }
      if (field->message_type() != nullptr && !field->is_map()) {
        left.push_back(field->message_type());
      }
    }
  }
  EXPECT_GT(seen.size(), 15u);
}

TEST(OpenApi, RealRepliesAreAsDescribed) {
  DoorSite site;
  FillSite(site);
  auto client = site.Client();
  int checked = 0;
  for (const DoorRouteRow& row : AllDoorRoutes()) {
    if (IsOfPage(row.route)) continue;
    const auto reply = client.send(RequestFor(row, "lab-1"));
    ASSERT_TRUE(reply) << row.pattern;
    EXPECT_EQ(reply->status, 200) << row.pattern << " " << reply->body;
    if (row.route != DoorRoute::kOpenApi) {
      EXPECT_THAT(CheckReply(row, *reply), IsEmpty()) << row.pattern;
    }
    ++checked;
    if (row.pattern.find("{id}") == std::string_view::npos) continue;
    const auto refused = client.send(RequestFor(row, "none"));
    EXPECT_EQ(refused->status, 404) << row.pattern;
    EXPECT_THAT(CheckReply(row, *refused), IsEmpty()) << row.pattern;
  }
  EXPECT_GT(checked, 20);
  const auto served = client.Get("/reel/v1/openapi.json");
  EXPECT_EQ(json::parse(served->body), Document());
}

TEST(OpenApi, TheCheckOfRepliesFindsWhatIsNotDescribed) {
  const json reply = {{"video", {{"name", 7}, {"colour", "red"}, {"state", "ASLEEP"}}}};
  Problems problems;
  Check(Schemas()["reel.v1.GetVideoResponse"], reply, "", problems);
  EXPECT_THAT(problems, ::testing::UnorderedElementsAre(".video.name is a number",
                                                        ".video.colour is not described",
                                                        ".video.state is \"ASLEEP\""));
}

// Each parameter of a query is one that the route reads, and no other is taken.
TEST(OpenApi, QueriesAreThoseThatAreRead) {
  DoorSite site;
  FillSite(site);
  auto client = site.Client();
  int checked = 0;
  for (const DoorRouteRow& row : AllDoorRoutes()) {
    if (IsOfPage(row.route)) continue;
    const json& parameters = OperationOf(row)["parameters"];
    std::string query;
    for (const json& parameter : parameters) {
      if (parameter["in"] != "query") continue;
      absl::StrAppend(&query, query.empty() ? "?" : "&", parameter["name"].get<std::string>(),
                      "=none");
      ++checked;
    }
    if (query.empty()) continue;
    httplib::Request request = RequestFor(row, "lab-1");
    const std::string path = request.path;
    request.path = path + query;
    EXPECT_THAT(client.send(request)->body, Not(HasSubstr("no such field"))) << request.path;
    request.path = path + "?colour=red";
    EXPECT_THAT(client.send(request)->body, HasSubstr("no such field")) << request.path;
  }
  EXPECT_EQ(checked, 10);
}

// A value of the described type is read, one of another is refused by name.
TEST(OpenApi, FieldsOfTheOpenAiShapeAreReadAsDescribed) {
  DoorSite site;
  FillSite(site);
  auto client = site.Client();
  const json& fields = Schemas()["openai.CreateVideoRequest"]["properties"];
  ASSERT_EQ(fields.size(), AllFacadeWords().size());
  for (const auto& [name, schema] : fields.items()) {
    // No field holds a list of lists.
    json body = {{"prompt", "a red circle"}};
    body[name] = json::array({json::array()});
    const auto refused = client.Post("/v1/videos", body.dump(), kOpenapiJson);
    EXPECT_EQ(refused->status, 400) << name;
    EXPECT_THAT(refused->body, HasSubstr(name));
    const json type = schema.contains("type") ? schema["type"] : schema["anyOf"][0]["type"];
    const bool number = type != "string" && type[0] != "object" && type[0] != "string";
    body[name] = number ? json(2) : json("no such thing");
    const auto taken = client.Post("/v1/videos", body.dump(), kOpenapiJson);
    EXPECT_THAT(taken->body, Not(HasSubstr("no such field"))) << name;
    EXPECT_THAT(taken->body, Not(HasSubstr("must be a number"))) << name;
    EXPECT_THAT(taken->body, Not(HasSubstr("must be a text"))) << name;
  }
}

}  // namespace
}  // namespace reel::front
