// SPDX-License-Identifier: Apache-2.0
#include "model/weights/safetensors_sax.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace reel::model {

bool SafetensorsSax::Fail(const std::string& message) {
  if (status_.ok()) status_ = absl::FailedPreconditionError(message);
  return false;
}

bool SafetensorsSax::Unexpected(const char* what) {
  switch (at_) {
    case At::kStart:
      return Fail(absl::StrCat("the header is not a JSON object but ", what));
    case At::kRoot:
      return Fail(absl::StrCat("the entry of a tensor is not an object but ", what, ": ", key_));
    case At::kMetadata:
      return Fail(absl::StrCat("a value of __metadata__ is not a string but ", what, ": ", key_));
    case At::kTensor:
      return Fail(
          absl::StrCat("a tensor's field '", key_, "' cannot be ", what, ": ", tensor().name));
    case At::kShape:
      return Fail(absl::StrCat("a tensor's shape cannot hold ", what, ": ", tensor().name));
    case At::kOffsets:
      return Fail(absl::StrCat("a tensor's data_offsets cannot hold ", what, ": ", tensor().name));
    case At::kEnd:
      break;
  }
  return Fail(absl::StrCat("the header has extra content after its end: ", what));
}

bool SafetensorsSax::number_unsigned(number_unsigned_t value) {
  if (at_ != At::kShape && at_ != At::kOffsets) return Unexpected("a number");
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return Unexpected("a number above 2^63 - 1");
  }
  if (at_ == At::kOffsets) {
    if (offsets_.size() == 2) return Unexpected("more than two numbers");
    offsets_.push_back(static_cast<int64_t>(value));
    return true;
  }
  if (static_cast<int64_t>(tensor().shape.size()) == limits_.max_rank) {
    return Fail(absl::StrCat("a tensor has too many dimensions: ", tensor().name,
                             ", more than the limit of ", limits_.max_rank));
  }
  tensor().shape.push_back(static_cast<int64_t>(value));
  return true;
}

bool SafetensorsSax::number_float(number_float_t, const string_t&) {
  return Unexpected("a number that is not an integer in range");
}

bool SafetensorsSax::string(string_t& value) {
  if (at_ == At::kMetadata) {
    header_.metadata[key_] = std::move(value);
    return true;
  }
  if (at_ != At::kTensor || key_ != "dtype") return Unexpected("a string");
  const std::optional<TensorType> type = TensorTypeFromName(value);
  if (!type.has_value()) {
    return Fail(absl::StrCat("a tensor has an unknown dtype: ", tensor().name, ": '",
                             value.substr(0, 32), "'"));
  }
  tensor().type = *type;
  return true;
}

bool SafetensorsSax::start_object(size_t) {
  if (at_ == At::kStart) {
    at_ = At::kRoot;
    return true;
  }
  if (at_ != At::kRoot) return Unexpected("an object");
  if (in_metadata_) {
    at_ = At::kMetadata;
    return true;
  }
  at_ = At::kTensor;
  parts_ = 0;
  return true;
}

bool SafetensorsSax::key(string_t& name) {
  if (static_cast<int64_t>(name.size()) > limits_.max_name_bytes) {
    return Fail(absl::StrCat("a name is too long: ", name.size(), " bytes, the limit is ",
                             limits_.max_name_bytes));
  }
  if (at_ == At::kRoot) return RootKey(name);
  if (at_ == At::kMetadata) return MetadataKey(name);
  return TensorKey(name);
}

bool SafetensorsSax::RootKey(const std::string& name) {
  key_ = name;
  in_metadata_ = name == "__metadata__";
  if (in_metadata_) {
    if (std::exchange(saw_metadata_, true)) return Fail("__metadata__ appears twice");
    return true;
  }
  if (!names_.insert(name).second) return Fail(absl::StrCat("a tensor appears twice: ", name));
  if (static_cast<int64_t>(header_.tensors.size()) == limits_.max_tensors) {
    return Fail(absl::StrCat("the file has too many tensors, more than the limit of ",
                             limits_.max_tensors));
  }
  header_.tensors.push_back({.name = name, .shape = {}});
  return true;
}

bool SafetensorsSax::MetadataKey(const std::string& name) {
  key_ = name;
  if (header_.metadata.contains(name)) {
    return Fail(absl::StrCat("a key of __metadata__ appears twice: ", name));
  }
  return true;
}

bool SafetensorsSax::TensorKey(const std::string& name) {
  key_ = name;
  const unsigned part = name == "dtype"          ? kDtype
                        : name == "shape"        ? kShapePart
                        : name == "data_offsets" ? kOffsetsPart
                                                 : kUnknownPart;
  if (part == kUnknownPart) {
    return Fail(absl::StrCat("a tensor has an unknown field: ", tensor().name, ": '", name, "'"));
  }
  if ((parts_ & part) != 0) {
    return Fail(absl::StrCat("a tensor's field appears twice: ", tensor().name, ": '", name, "'"));
  }
  parts_ |= part;
  return true;
}

bool SafetensorsSax::end_object() {
  if (at_ == At::kTensor) return EndTensor();
  at_ = at_ == At::kMetadata ? At::kRoot : At::kEnd;
  return true;
}

bool SafetensorsSax::EndTensor() {
  if (parts_ != kAllParts) {
    return Fail(absl::StrCat("a tensor lacks one of dtype, shape, data_offsets: ", tensor().name));
  }
  at_ = At::kRoot;
  return true;
}

bool SafetensorsSax::start_array(size_t) {
  if (at_ == At::kTensor && key_ == "shape") {
    at_ = At::kShape;
    return true;
  }
  if (at_ == At::kTensor && key_ == "data_offsets") {
    at_ = At::kOffsets;
    offsets_.clear();
    return true;
  }
  return Unexpected("an array");
}

bool SafetensorsSax::end_array() {
  if (at_ == At::kOffsets) {
    if (offsets_.size() != 2) return Unexpected("fewer than two numbers");
    tensor().begin = offsets_[0];
    tensor().end = offsets_[1];
  }
  at_ = At::kTensor;
  return true;
}

bool SafetensorsSax::parse_error(size_t position, const std::string&,
                                 const nlohmann::detail::exception&) {
  return Fail(absl::StrCat("the header is not JSON, from byte ", position));
}

}  // namespace reel::model
