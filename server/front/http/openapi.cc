// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/descriptor.h>

#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "reel/v1/server_service.pb.h"
#include "reel/v1/video_service.pb.h"
#include "server/front/http/door_routes.h"
#include "server/front/http/openapi_schema.h"

namespace reel::front {
namespace {

namespace pb = google::protobuf;
using Json = nlohmann::json;

bool IsNative(const DoorRouteRow& row) { return row.route < DoorRoute::kFacadeCreate; }

// The RPC of the route; null for those of no service of ours.
const pb::MethodDescriptor* RpcOf(const DoorRouteRow& row) {
  for (const pb::ServiceDescriptor* service :
       {v1::GetVideoRequest::descriptor()->file()->service(0),
        v1::GetServerInfoRequest::descriptor()->file()->service(0)}) {
    const MethodRow& method = RowOf(row.rpc);
    if (service->full_name() != method.service) continue;
    return service->FindMethodByName(std::string(method.name));
  }
  return nullptr;
}

// "GET /v1/videos/{id}/content": "getV1VideosIdContent".
std::string OperationId(std::string_view method, std::string_view pattern) {
  std::string id = absl::AsciiStrToLower(absl::string_view(method.data(), method.size()));
  bool starts = true;
  for (const char c : pattern) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) {
      id += starts ? absl::ascii_toupper(static_cast<unsigned char>(c)) : c;
    }
    starts = !absl::ascii_isalnum(static_cast<unsigned char>(c));
  }
  return id;
}

Json Parameter(const std::string& name, const char* in, Json schema) {
  return {{"name", name}, {"in", in}, {"schema", std::move(schema)}};
}

Json QuerySchema(absl::string_view name) {
  const bool number = name == "after_sequence" || name == "attempt" || name == "limit";
  return {{"type", number ? "integer" : "string"}};
}

Json OperationParameters(const DoorRouteRow& row, Json& schemas) {
  Json parameters = Json::array();
  if (row.pattern.find("{id}") != std::string_view::npos) {
    parameters.push_back(Parameter("id", "path", {{"type", "string"}}));
    parameters.back()["required"] = true;
  }
  for (const absl::string_view name : absl::StrSplit(
           absl::string_view(row.query.data(), row.query.size()), ' ', absl::SkipEmpty())) {
    parameters.push_back(Parameter(std::string(name), "query", QuerySchema(name)));
  }
  if (row.route == DoorRoute::kList) {
    const std::string request = RpcOf(row)->input_type()->full_name();
    AddMessageSchema(*RpcOf(row)->input_type(), schemas);
    for (const auto& [name, schema] : schemas[request]["properties"].items()) {
      parameters.push_back(Parameter(name, "query", schema));
    }
  }
  const bool makes = row.rpc == Method::kCreateVideo || row.rpc == Method::kGenerateVideo;
  if (makes) parameters.push_back(Parameter("Idempotency-Key", "header", {{"type", "string"}}));
  if (row.route == DoorRoute::kFacadeCreate || row.route == DoorRoute::kFacadeRemix) {
    parameters.push_back(Parameter("Prefer", "header", {{"type", "string"}}));
  }
  if (row.route == DoorRoute::kEvents) {
    parameters.push_back(Parameter("Last-Event-ID", "header", {{"type", "string"}}));
  }
  return parameters;
}

Json Content(const char* type, Json schema) { return {{type, {{"schema", std::move(schema)}}}}; }

Json RequestBody(const DoorRouteRow& row, Json& schemas) {
  Json content;
  if (row.takes == DoorTakes::kJson) {
    content = Content("application/json", AddMessageSchema(*RpcOf(row)->input_type(), schemas));
  } else if (row.takes == DoorTakes::kFile) {
    content = Content("application/octet-stream", {{"type", "string"}, {"format", "binary"}});
  } else {
    content = Content("application/json", SchemaReference(kFacadeRequest));
    content.update(Content("multipart/form-data", SchemaReference(kFacadeForm)));
    content.update(Content("application/x-www-form-urlencoded", SchemaReference(kFacadeForm)));
  }
  return {{"required", true}, {"content", std::move(content)}};
}

Json Reply(const char* description, Json content) {
  return {{"description", description}, {"content", std::move(content)}};
}

Json Events() {
  return Reply(
      "Server-sent events: accepted, progress, preview, media, restarted, then finished "
      "or failed; each with one line of JSON",
      Content("text/event-stream", {{"type", "string"}}));
}

// A file, whole or in part.
void AddMedia(bool ranges, Json& responses) {
  const Json file = Content("video/mp4", Json::object());
  responses["200"] = Reply("The file", file);
  if (!ranges) return;
  responses["206"] = Reply("A part of the file", file);
}

Json Responses(const DoorRouteRow& row, Json& schemas) {
  Json responses = Json::object();
  const std::string facade = FacadeReplyOf(row.route);
  if (!facade.empty()) {
    responses["200"] = Reply("As asked", Content("application/json", SchemaReference(facade)));
  } else if (row.route == DoorRoute::kOpenApi) {
    responses["200"] = Reply("This", Content("application/json", {{"type", "object"}}));
  } else if (row.rpc == Method::kDownloadVideo || row.route == DoorRoute::kFacadeSync) {
    AddMedia(row.rpc == Method::kDownloadVideo, responses);
  } else if (RpcOf(row)->server_streaming()) {
    responses["200"] = Events();
    if (row.route == DoorRoute::kEvents) {
      responses["204"] = {{"description", "Nothing follows what the caller has"}};
    }
  } else {
    responses["200"] =
        Reply("As asked",
              Content("application/json", AddMessageSchema(*RpcOf(row)->output_type(), schemas)));
  }
  // Not ready is no error, but tells so.
  if (row.route == DoorRoute::kFacadeHealth) responses["503"] = responses["200"];
  const char* error = IsNative(row) ? kNativeError : kFacadeError;
  responses["default"] =
      Reply("Refused or failed", Content("application/json", SchemaReference(error)));
  return responses;
}

Json Operation(const DoorRouteRow& row, Json& schemas) {
  Json operation = {{"operationId", OperationId(row.method, row.pattern)},
                    {"parameters", OperationParameters(row, schemas)},
                    {"responses", Responses(row, schemas)}};
  if (const auto* rpc = RpcOf(row); rpc != nullptr) operation["summary"] = rpc->full_name();
  operation["tags"] = {IsNative(row) ? std::string(RowOf(row.rpc).service) : "openai"};
  if (row.takes != DoorTakes::kNothing) operation["requestBody"] = RequestBody(row, schemas);
  // Without a table of tokens nobody needs one.
  operation["security"] = Json::array({Json::object()});
  if (RowOf(row.rpc).role) operation["security"].push_back({{"bearer", Json::array()}});
  return operation;
}

// The same without a body.
Json HeadOf(Json operation, const DoorRouteRow& row) {
  operation["operationId"] = OperationId("HEAD", row.pattern);
  for (auto& response : operation["responses"]) response.erase("content");
  return operation;
}

}  // namespace

std::string OpenApiJson(const std::string& version) {
  Json schemas = Json::object();
  Json paths = Json::object();
  AddFacadeSchemas(schemas);
  for (const DoorRouteRow& row : AllDoorRoutes()) {
    if (IsOfPage(row.route)) continue;
    Json operation = Operation(row, schemas);
    Json& path = paths[std::string(row.pattern)];
    if (row.head) path["head"] = HeadOf(operation, row);
    path[absl::AsciiStrToLower(absl::string_view(row.method.data(), row.method.size()))] =
        std::move(operation);
  }
  const Json document = {
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "Reel"},
        {"version", version},
        {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
      {"paths", std::move(paths)},
      {"components",
       {{"schemas", std::move(schemas)},
        {"securitySchemes", {{"bearer", {{"type", "http"}, {"scheme", "bearer"}}}}}}}};
  return document.dump();
}

}  // namespace reel::front
