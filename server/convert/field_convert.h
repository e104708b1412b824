// SPDX-License-Identifier: Apache-2.0
// Carries values between a struct and a message by the names of the fields. A struct's list of its
// fields is called with one of the visitors here, so what is added to message, struct and list
// needs no code for the way between. A name that the message lacks is passed over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/time/time.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/reflection.h"
#include "model/field_name.h"
#include "server/convert/proto_duration.h"

namespace reel {

// What a field can have: one value, or none or several of them.
template <typename T>
concept FieldValue = std::is_arithmetic_v<T> || std::is_enum_v<T> ||
                     std::is_same_v<T, std::string> || std::is_same_v<T, absl::Duration>;
template <typename T>
concept FieldValues = FieldValue<T> || FieldValue<typename T::value_type>;

// Where a name leads to in a message: "a.b" to field b of the message in field a. A name that the
// message lacks leads nowhere.
struct FieldPath {
  const google::protobuf::FieldDescriptor* outer = nullptr;
  const google::protobuf::FieldDescriptor* field = nullptr;
  const google::protobuf::Reflection* reflection = nullptr;  // of the field's message
};
FieldPath FindPath(const google::protobuf::Message& message, std::string_view name);

// Sets fields of a message. What is 0, empty or nullopt stays unset, but for durations. Enums have
// the message's values.
template <typename Message>
class MessageWriter {
 public:
  explicit MessageWriter(Message& message) : message_(&message) {}

  template <model::FieldText kName, FieldValues T>
  void operator()(model::FieldName<kName>, const T& value) {
    static const FieldPath path = FindPath(Message::default_instance(), kName.text);
    if constexpr (!std::is_same_v<T, absl::Duration>) {
      if (value == T()) return;
    }
    if (path.field == nullptr) return;
    google::protobuf::Message* holder = message_;
    if (path.outer != nullptr) {
      holder = holder->GetReflection()->MutableMessage(holder, path.outer);
    }
    Set({holder, path}, value);
  }

 private:
  struct Place {
    google::protobuf::Message* message;
    const FieldPath& path;

    const google::protobuf::FieldDescriptor* field() const { return path.field; }
    const google::protobuf::Reflection* operator->() const { return path.reflection; }
  };

  static void Set(const Place& to, bool value) { to->SetBool(to.message, to.field(), value); }
  static void Set(const Place& to, int value) { to->SetInt32(to.message, to.field(), value); }
  static void Set(const Place& to, int64_t value) { to->SetInt64(to.message, to.field(), value); }
  static void Set(const Place& to, uint64_t value) { to->SetUInt64(to.message, to.field(), value); }
  static void Set(const Place& to, double value) { to->SetDouble(to.message, to.field(), value); }
  static void Set(const Place& to, const std::string& value) {
    to->SetString(to.message, to.field(), value);
  }
  static void Set(const Place& to, absl::Duration value) {
    auto* duration = to->MutableMessage(to.message, to.field());
    SetProtoDuration(static_cast<google::protobuf::Duration&>(*duration), value);
  }
  template <typename T>
    requires std::is_enum_v<T>
  static void Set(const Place& to, T value) {
    to->SetEnumValue(to.message, to.field(), static_cast<int>(value));
  }
  template <typename T>
  static void Set(const Place& to, const std::optional<T>& value) {
    Set(to, *value);
  }
  static void Set(const Place& to, const std::vector<int>& values) {
    for (const int value : values) to->AddInt32(to.message, to.field(), value);
  }
  static void Set(const Place& to, const std::vector<int64_t>& values) {
    for (const int64_t value : values) to->AddInt64(to.message, to.field(), value);
  }
  static void Set(const Place& to, const std::vector<double>& values) {
    for (const double value : values) to->AddDouble(to.message, to.field(), value);
  }
  static void Set(const Place& to, const std::vector<std::string>& values) {
    for (const std::string& value : values) to->AddString(to.message, to.field(), value);
  }

  Message* message_;
};

// Reads them. What is unset becomes 0, empty or nullopt, and so does an enum's value that this
// build does not know.
template <typename Message>
class MessageReader {
 public:
  explicit MessageReader(const Message& message) : message_(&message) {}

  template <model::FieldText kName, FieldValues T>
  void operator()(model::FieldName<kName>, T& value) {
    static const FieldPath path = FindPath(Message::default_instance(), kName.text);
    if (path.field == nullptr) return;
    const google::protobuf::Message* holder = message_;
    if (path.outer != nullptr) {
      holder = &holder->GetReflection()->GetMessage(*holder, path.outer);
    }
    Get({holder, path}, value);
  }

 private:
  struct Place {
    const google::protobuf::Message* message;
    const FieldPath& path;

    const google::protobuf::FieldDescriptor* field() const { return path.field; }
    const google::protobuf::Reflection* operator->() const { return path.reflection; }
  };

  static void Get(const Place& from, bool& value) {
    value = from->GetBool(*from.message, from.field());
  }
  static void Get(const Place& from, int& value) {
    value = from->GetInt32(*from.message, from.field());
  }
  static void Get(const Place& from, int64_t& value) {
    value = from->GetInt64(*from.message, from.field());
  }
  static void Get(const Place& from, uint64_t& value) {
    value = from->GetUInt64(*from.message, from.field());
  }
  static void Get(const Place& from, double& value) {
    value = from->GetDouble(*from.message, from.field());
  }
  static void Get(const Place& from, std::string& value) {
    value = from->GetString(*from.message, from.field());
  }
  static void Get(const Place& from, absl::Duration& value) {
    const auto& duration = from->GetMessage(*from.message, from.field());
    value = FromProtoDuration(static_cast<const google::protobuf::Duration&>(duration));
  }
  template <typename T>
    requires std::is_enum_v<T>
  static void Get(const Place& from, T& value) {
    const int number = from->GetEnumValue(*from.message, from.field());
    value = T(from.field()->enum_type()->FindValueByNumber(number) != nullptr ? number : 0);
  }
  template <typename T>
  static void Get(const Place& from, std::optional<T>& value) {
    if (from->HasField(*from.message, from.field())) Get(from, value.emplace());
  }
  template <typename T>
  static void Get(const Place& from, std::vector<T>& values) {
    const auto list = from->template GetRepeatedFieldRef<T>(*from.message, from.field());
    values.assign(list.begin(), list.end());
  }

  const Message* message_;
};

}  // namespace reel
