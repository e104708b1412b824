// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/openapi_schema.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <nlohmann/json.hpp>

#include "google/rpc/status.pb.h"
#include "reel/v1/video.pb.h"
#include "server/errors/error.h"
#include "server/front/http/door_error.h"
#include "server/front/http/facade_bodies.h"
#include "server/front/http/facade_files.h"
#include "server/front/http/facade_words.h"

namespace reel::front {
namespace {

namespace pb = google::protobuf;
using Json = nlohmann::json;

// Messages whose JSON is no object of their fields; null for the others.
Json WellKnown(const std::string& name) {
  if (name == "google.protobuf.Duration") {
    return {{"type", "string"}, {"pattern", R"(^-?[0-9]+(\.[0-9]+)?s$)"}};
  }
  if (name == "google.protobuf.Timestamp") return {{"type", "string"}, {"format", "date-time"}};
  if (name == "google.protobuf.Any") {
    return {{"type", "object"},
            {"properties", {{"@type", {{"type", "string"}}}}},
            {"required", {"@type"}},
            {"additionalProperties", true}};
  }
  return nullptr;
}

Json EnumSchema(const pb::EnumDescriptor& type) {
  Json names = Json::array();
  for (int i = 0; i < type.value_count(); ++i) names.push_back(type.value(i)->name());
  return {{"type", "string"}, {"enum", std::move(names)}};
}

// One value of the field.
Json ValueSchema(const pb::FieldDescriptor& field, Json& schemas) {
  switch (field.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_INT32:
    case pb::FieldDescriptor::CPPTYPE_UINT32:
      return {{"type", "integer"}};
    case pb::FieldDescriptor::CPPTYPE_INT64:
      return {{"type", "string"}, {"format", "int64"}};
    case pb::FieldDescriptor::CPPTYPE_UINT64:
      return {{"type", "string"}, {"format", "uint64"}};
    case pb::FieldDescriptor::CPPTYPE_DOUBLE:
    case pb::FieldDescriptor::CPPTYPE_FLOAT:
      return {{"type", "number"}};
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      return {{"type", "boolean"}};
    case pb::FieldDescriptor::CPPTYPE_ENUM:
      return EnumSchema(*field.enum_type());
    case pb::FieldDescriptor::CPPTYPE_STRING:
      if (field.type() != pb::FieldDescriptor::TYPE_BYTES) return {{"type", "string"}};
      return {{"type", "string"}, {"contentEncoding", "base64"}};
    case pb::FieldDescriptor::CPPTYPE_MESSAGE:
      return AddMessageSchema(*field.message_type(), schemas);
  }
  return Json::object();
}

Json FieldSchema(const pb::FieldDescriptor& field, Json& schemas) {
  if (field.is_map()) {
    const pb::FieldDescriptor& value = *field.message_type()->map_value();
    return {{"type", "object"}, {"additionalProperties", ValueSchema(value, schemas)}};
  }
  Json schema = ValueSchema(field, schemas);
  if (!field.is_repeated()) return schema;
  return {{"type", "array"}, {"items", std::move(schema)}};
}

Json ObjectSchema(const std::vector<Json>& examples) {
  std::map<std::string, std::vector<Json>> members;
  for (const Json& example : examples) {
    for (const auto& [name, value] : example.items()) members[name].push_back(value);
  }
  Json schema = {{"type", "object"}, {"properties", Json::object()}, {"required", Json::array()}};
  for (const auto& [name, values] : members) {
    schema["properties"][name] = SchemaOfExamples(values);
    if (values.size() == examples.size()) schema["required"].push_back(name);
  }
  return schema;
}

Json ListSchema(const std::vector<Json>& examples) {
  std::vector<Json> elements;
  for (const Json& list : examples) elements.insert(elements.end(), list.begin(), list.end());
  return {{"type", "array"}, {"items", SchemaOfExamples(elements)}};
}

}  // namespace

Json SchemaReference(const std::string& name) { return {{"$ref", "#/components/schemas/" + name}}; }

Json AddMessageSchema(const pb::Descriptor& type, Json& schemas) {
  const std::string name = type.full_name();
  if (Json known = WellKnown(name); !known.is_null()) return known;
  Json reference = SchemaReference(name);
  if (schemas.contains(name)) return reference;
  schemas[name] = Json::object();  // so that a message which holds itself ends here
  Json properties = Json::object();
  for (int i = 0; i < type.field_count(); ++i) {
    properties[type.field(i)->json_name()] = FieldSchema(*type.field(i), schemas);
  }
  schemas[name] = {{"type", "object"}, {"properties", std::move(properties)}};
  return reference;
}

Json SchemaOfExamples(const std::vector<Json>& examples) {
  std::vector<Json> objects;
  std::vector<Json> lists;
  std::set<std::string> types;
  for (const Json& example : examples) {
    if (example.is_object()) objects.push_back(example);
    if (example.is_array()) lists.push_back(example);
    if (!example.is_structured())
      types.insert(example.is_number() ? "number" : example.type_name());
  }
  Json schema = Json::object();
  if (!objects.empty()) schema = ObjectSchema(objects);
  if (!lists.empty()) schema = ListSchema(lists);
  if (schema.contains("type")) types.insert(schema["type"].get<std::string>());
  if (types.size() == 1) schema["type"] = *types.begin();
  if (types.size() > 1) schema["type"] = types;
  return schema;
}

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
      video.spec.source =
          model::Source{.video = "videos/id", .begin = model::Source::Begin::kRetake};
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

Json FileSchema(const FileField& field, const char* description) {
  return {{"description", description},
          {"anyOf",
           {{{"type", "string"}},
            {{"type", "object"},
             {"properties", {{field.url, {{"type", "string"}}}}},
             {"required", {field.url}}}}}};
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
      return FileSchema(kInputReference, "A data: URL of a picture or clip; nothing is fetched.");
    case WordKind::kReferenceClip:
      return FileSchema(kReferenceVideo,
                        "A data: URL of the clip that an adapter of `loras` wants, an MP4.");
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
    } else if (word.kind == WordKind::kReferenceClip) {
      form[name]["description"] = "A file with a clip, or a data: URL.";
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
  // Of a call for several (`n`).
  schemas[kVideo]["properties"]["videos"] = {{"type", "array"}, {"items", SchemaReference(kVideo)}};
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
    case DoorRoute::kFacadeRemix:
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
