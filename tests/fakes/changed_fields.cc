// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/changed_fields.h"

#include <google/protobuf/descriptor.h>

#include <functional>
#include <utility>

namespace reel::testing {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// How to get from the root to a message: a field, and of a repeated one the element.
struct Step {
  const FieldDescriptor* field;
  int index;
};
using Way = std::vector<Step>;
using Edit = std::function<void(Message&)>;

// A message that is a value.
bool IsLeaf(const FieldDescriptor& field) {
  return field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE ||
         field.message_type()->full_name() == "google.protobuf.Duration";
}

class Changer {
 public:
  explicit Changer(const Message& base) : base_(base) {}

  std::map<std::string, Copies> Run() {
    Walk(base_, "", {});
    return std::move(changed_);
  }

 private:
  void Add(const std::string& path, const Way& way, const Edit& edit) {
    std::unique_ptr<Message> copy(base_.New());
    copy->CopyFrom(base_);
    Message* at = copy.get();
    for (const Step& step : way) {
      const Reflection& reflection = *at->GetReflection();
      at = step.field->is_repeated() ? reflection.MutableRepeatedMessage(at, step.field, step.index)
                                     : reflection.MutableMessage(at, step.field);
    }
    edit(*at);
    changed_[path].push_back(std::move(copy));
  }

  void Walk(const Message& message, const std::string& prefix, const Way& way) {
    const Descriptor& type = *message.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      const std::string path = prefix + field.name();
      if (IsLeftOut(message, field)) continue;
      if (field.is_map()) {
        Add(path, way, [&field](Message& at) { AddEntry(at, field); });
      } else if (IsLeaf(field)) {
        Leaf(message, field, path, way);
      } else {
        Inside(message, field, path, way);
      }
    }
  }

  // To set it would unset what stands in its place.
  static bool IsLeftOut(const Message& message, const FieldDescriptor& field) {
    const auto* oneof = field.real_containing_oneof();
    if (oneof == nullptr) return false;
    const Reflection& reflection = *message.GetReflection();
    return reflection.HasOneof(message, oneof) && !reflection.HasField(message, &field);
  }

  void Inside(const Message& message, const FieldDescriptor& field, const std::string& path,
              const Way& way) {
    const Reflection& reflection = *message.GetReflection();
    Way further = way;
    further.push_back({&field, 0});
    if (!field.is_repeated()) {
      return Walk(reflection.GetMessage(message, &field), path + ".", further);
    }
    const int size = reflection.FieldSize(message, &field);
    if (size == 0) {
      Add(path, way, [&field](Message& at) { at.GetReflection()->AddMessage(&at, &field); });
    }
    for (int element = 0; element < size; ++element) {
      further.back().index = element;
      Walk(reflection.GetRepeatedMessage(message, &field, element), path + ".", further);
    }
  }

  static void AddEntry(Message& at, const FieldDescriptor& field) {
    Message& entry = *at.GetReflection()->AddMessage(&at, &field);
    const Reflection& reflection = *entry.GetReflection();
    reflection.SetString(&entry, field.message_type()->map_key(), "added");
    reflection.SetString(&entry, field.message_type()->map_value(), "added");
  }

  void Leaf(const Message& message, const FieldDescriptor& field, const std::string& path,
            const Way& way) {
    const FieldDescriptor* f = &field;
    const auto set = [&](auto method, auto value) {
      Add(path, way, [=](Message& at) { (at.GetReflection()->*method)(&at, f, value); });
    };
    const bool list = field.is_repeated();
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        for (const int32_t value : {7, -7, 1}) {
          set(list ? &Reflection::AddInt32 : &Reflection::SetInt32, value);
        }
        return;
      case FieldDescriptor::CPPTYPE_INT64:
        for (const int64_t value : {7, -7, 1}) set(&Reflection::SetInt64, value);
        return;
      case FieldDescriptor::CPPTYPE_UINT64:
        return set(&Reflection::SetUInt64, uint64_t{7});
      case FieldDescriptor::CPPTYPE_DOUBLE:
        for (const double value : {7.5, 0.5, -1.0}) {
          set(list ? &Reflection::AddDouble : &Reflection::SetDouble, value);
        }
        return;
      case FieldDescriptor::CPPTYPE_BOOL:
        return set(&Reflection::SetBool, !message.GetReflection()->GetBool(message, f));
      case FieldDescriptor::CPPTYPE_ENUM:
        for (const int value : {1, 2, 3, 99}) {
          set(list ? &Reflection::AddEnumValue : &Reflection::SetEnumValue, value);
        }
        return;
      case FieldDescriptor::CPPTYPE_STRING:
        return Add(path, way, [=](Message& at) {
          const Reflection& reflection = *at.GetReflection();
          if (list) return reflection.AddString(&at, f, "other");
          reflection.SetString(&at, f, reflection.GetString(at, f) + "other");
        });
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return Add(path, way, [=](Message& at) {
          Message& duration = *at.GetReflection()->MutableMessage(&at, f);
          duration.GetReflection()->SetInt64(
              &duration, duration.GetDescriptor()->FindFieldByName("seconds"), 7);
        });
      default:
        GOOGLE_LOG(FATAL) << "teach EachFieldChanged values of " << field.full_name();
    }
  }

  const Message& base_;
  std::map<std::string, Copies> changed_;
};

}  // namespace

std::map<std::string, Copies> EachFieldChanged(const Message& base) { return Changer(base).Run(); }

}  // namespace reel::testing
