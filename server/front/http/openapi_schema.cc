// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/openapi_schema.h"

#include <google/protobuf/descriptor.h>

#include <map>
#include <set>

#include <nlohmann/json.hpp>

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

}  // namespace reel::front
