// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/server/convert/filled_message.h"

#include "google/protobuf/descriptor.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/util/message_differencer.h"

namespace reel {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

class Filler {
 public:
  // `alternative`: which member of a oneof to set.
  void Fill(Message& message, int alternative) {
    if (auto* duration =
            google::protobuf::DynamicCastToGenerated<google::protobuf::Duration>(&message)) {
      duration->set_seconds(Next());
      duration->set_nanos(Next());
      return;
    }
    const Descriptor& type = *message.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      const auto* oneof = field.real_containing_oneof();
      if (oneof && oneof->field(alternative % oneof->field_count()) != &field) continue;
      if (field.is_repeated()) {
        FillRepeated(message, field);
      } else {
        FillSingle(message, field, alternative);
      }
    }
  }

 private:
  int Next() { return ++count_; }
  std::string NextText() { return "text" + std::to_string(Next()); }

  void FillSingle(Message& message, const FieldDescriptor& field, int alternative) {
    const Reflection& reflection = *message.GetReflection();
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return reflection.SetInt32(&message, &field, Next());
      case FieldDescriptor::CPPTYPE_INT64:
        return reflection.SetInt64(&message, &field, Next());
      case FieldDescriptor::CPPTYPE_UINT32:
        return reflection.SetUInt32(&message, &field, static_cast<uint32_t>(Next()));
      case FieldDescriptor::CPPTYPE_UINT64:
        return reflection.SetUInt64(&message, &field, static_cast<uint64_t>(Next()));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return reflection.SetDouble(&message, &field, Next() + 0.5);
      case FieldDescriptor::CPPTYPE_FLOAT:
        return reflection.SetFloat(&message, &field, static_cast<float>(Next()));
      case FieldDescriptor::CPPTYPE_BOOL:
        return reflection.SetBool(&message, &field, true);
      case FieldDescriptor::CPPTYPE_ENUM:
        return reflection.SetEnumValue(
            &message, &field,
            field.enum_type()->value(field.enum_type()->value_count() - 1)->number());
      case FieldDescriptor::CPPTYPE_STRING:
        return reflection.SetString(&message, &field, NextText());
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return Fill(*reflection.MutableMessage(&message, &field), alternative);
    }
  }

  void FillRepeated(Message& message, const FieldDescriptor& field) {
    const Reflection& reflection = *message.GetReflection();
    for (int element = 0; element < 2; ++element) {
      switch (field.cpp_type()) {
        case FieldDescriptor::CPPTYPE_MESSAGE:
          Fill(*reflection.AddMessage(&message, &field), element);
          break;
        case FieldDescriptor::CPPTYPE_STRING:
          reflection.AddString(&message, &field, NextText());
          break;
        case FieldDescriptor::CPPTYPE_DOUBLE:
          reflection.AddDouble(&message, &field, Next() + 0.5);
          break;
        case FieldDescriptor::CPPTYPE_INT32:
          reflection.AddInt32(&message, &field, Next());
          break;
        case FieldDescriptor::CPPTYPE_INT64:
          reflection.AddInt64(&message, &field, Next());
          break;
        default:
          GOOGLE_LOG(FATAL) << "teach the filler repeated fields like " << field.full_name();
      }
    }
  }

  int count_ = 0;
};

}  // namespace

void Fill(Message& message) { Filler().Fill(message, 0); }

std::string Difference(const Message& expected, const Message& actual) {
  std::string report;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&report);
  return differencer.Compare(expected, actual) ? std::string() : report;
}

}  // namespace reel
