// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/openapi_facade.h"

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

#include "google/rpc/status.pb.h"
#include "reel/v1/video.pb.h"
#include "server/errors/error.h"
#include "server/front/http/door_error.h"
#include "server/front/http/facade_video.h"
#include "server/front/http/facade_words.h"
#include "server/front/http/openapi_schema.h"

namespace reel::front {
namespace {

using Json = nlohmann::json;

constexpr char kVideo[] = "openai.Video";
constexpr char kModel[] = "openai.Model";

// A video in each state, with all that it can have there.
std::vector<Json> ExampleVideos() {
  std::vector<Json> examples;
  for (const VideoState state : {VideoState::kQueued, VideoState::kRunning, VideoState::kSucceeded,
                                 VideoState::kFailed, VideoState::kCancelled}) {
    Video video;
    video.state = state;
    video.create_time = absl::UnixEpoch();
    video.notices = {{"CODE", "what there is to know"}};
    if (IsFinal(state)) {
      video.end_time = video.expire_time = absl::UnixEpoch();
      video.stats.emplace();
      video.stats->kernels.emplace_back();
    }
    if (IsFinal(state) && state != VideoState::kSucceeded) {
      video.error = MakeError(Reason::kInternal, "why");
    }
    examples.push_back(Json::parse(FacadeVideoJson(video)));
  }
  return examples;
}

Json VideoSchema() {
  const std::vector<Json> examples = ExampleVideos();
  Json schema = SchemaOfExamples(examples);
  Json& statuses = schema["properties"]["status"]["enum"] = Json::array();
  for (const Json& example : examples) {
    const Json& status = example["status"];
    if (std::find(statuses.begin(), statuses.end(), status) == statuses.end()) {
      statuses.push_back(status);
    }
  }
  return schema;
}

// A list of what `element` is the schema of.
Json ListSchema(const std::vector<Json>& examples, const char* element) {
  Json schema = SchemaOfExamples(examples);
  schema["properties"]["data"]["items"] = SchemaReference(element);
  return schema;
}

Json ErrorSchema(const std::vector<std::string>& bodies, Json& schemas) {
  std::vector<Json> examples;
  for (const std::string& body : bodies) examples.push_back(Json::parse(body));
  Json schema = SchemaOfExamples(examples);
  const auto& status = *google::rpc::Status::descriptor();
  AddMessageSchema(status, schemas);
  schema["properties"]["error"]["properties"]["details"] =
      schemas[status.full_name()]["properties"]["details"];
  return schema;
}

void AddErrorSchemas(Json& schemas) {
  const absl::Status plain = MakeError(Reason::kInternal, "why");
  const absl::Status violation = MakeInvalid(Reason::kInvalidRequest, {{"size", "why"}});
  schemas[kNativeError] =
      ErrorSchema({ErrorReply(plain).body, ErrorReply(violation).body}, schemas);
  schemas[kFacadeError] =
      ErrorSchema({FacadeErrorBody(plain), FacadeErrorBody(violation)}, schemas);
}

Json WordSchema(WordKind kind, Json& schemas) {
  switch (kind) {
    case WordKind::kText:
      return {{"type", "string"}};
    case WordKind::kNumber:
      return {{"type", {"number", "string"}}};
    case WordKind::kWhole:
      return {{"type", {"integer", "string"}}};
    case WordKind::kFlag:
      return {{"type", {"boolean", "string"}}};
    case WordKind::kObject:
      return {{"type", {"object", "string"}}};
    case WordKind::kKernels:
      return {
          {"anyOf",
           {{{"type", "string"}}, AddMessageSchema(*v1::KernelSelection::descriptor(), schemas)}}};
    case WordKind::kPreview:
      return {{"anyOf",
               {{{"type", {"integer", "string"}}},
                AddMessageSchema(*v1::PreviewOptions::descriptor(), schemas)}}};
    case WordKind::kAdapters:
      return {{"description", "Adapters of the model by name, each with a scale."},
              {"anyOf",
               {{{"type", "string"}},
                {{"type", "array"},
                 {"items", AddMessageSchema(*v1::Adapter::descriptor(), schemas)}}}}};
    case WordKind::kReference:
      return {{"description", "A data: URL of a picture or clip; nothing is fetched."},
              {"anyOf",
               {{{"type", "string"}},
                {{"type", "object"},
                 {"properties", {{"image_url", {{"type", "string"}}}}},
                 {"required", {"image_url"}}}}}};
  }
  return Json::object();
}

void AddRequestSchemas(Json& schemas) {
  Json fields = Json::object();
  Json form = Json::object();
  for (const FacadeWord& word : AllFacadeWords()) {
    const std::string name(word.name);
    fields[name] = WordSchema(word.kind, schemas);
    form[name] = {{"type", "string"}};
    if (word.kind == WordKind::kReference) {
      form[name]["description"] = "A file with a picture or clip, or a data: URL.";
    }
  }
  const auto object = [](Json properties) {
    return Json{
        {"type", "object"}, {"properties", std::move(properties)}, {"required", {"prompt"}}};
  };
  schemas[kFacadeRequest] = object(std::move(fields));
  schemas[kFacadeForm] = object(std::move(form));
}

}  // namespace

void AddFacadeSchemas(Json& schemas) {
  const auto of = [](std::initializer_list<std::string> texts) {
    std::vector<Json> examples;
    for (const std::string& text : texts) examples.push_back(Json::parse(text));
    return examples;
  };
  const std::vector<ServedModel> models(1);
  schemas[kVideo] = VideoSchema();
  schemas[kModel] = SchemaOfExamples(of({FacadeModelJson(models.front(), 0)}));
  schemas[FacadeReplyOf(DoorRoute::kFacadeList)] =
      ListSchema(of({FacadeListJson({}, false), FacadeListJson({Video()}, true)}), kVideo);
  schemas[FacadeReplyOf(DoorRoute::kFacadeModels)] =
      ListSchema(of({FacadeModelsJson(models, 0)}), kModel);
  schemas[FacadeReplyOf(DoorRoute::kFacadeDelete)] =
      SchemaOfExamples(of({FacadeDeletedJson("id")}));
  schemas[FacadeReplyOf(DoorRoute::kFacadeModelInfo)] =
      SchemaOfExamples(of({FacadeModelInfoJson("name")}));
  schemas[FacadeReplyOf(DoorRoute::kFacadeHealth)] = SchemaOfExamples(of({FacadeHealthJson(true)}));
  AddErrorSchemas(schemas);
  AddRequestSchemas(schemas);
}

std::string FacadeReplyOf(DoorRoute route) {
  switch (route) {
    case DoorRoute::kFacadeCreate:
    case DoorRoute::kFacadeGet:
      return kVideo;
    case DoorRoute::kFacadeList:
      return "openai.VideoList";
    case DoorRoute::kFacadeDelete:
      return "openai.DeletedVideo";
    case DoorRoute::kFacadeModels:
      return "openai.ModelList";
    case DoorRoute::kFacadeModel:
      return kModel;
    case DoorRoute::kFacadeModelInfo:
      return "openai.ModelInfo";
    case DoorRoute::kFacadeHealth:
      return "openai.Health";
    default:
      return "";
  }
}

}  // namespace reel::front
