// SPDX-License-Identifier: Apache-2.0
#include "model/weights/gguf_header.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/status_macros.h"
#include "model/utf8.h"
#include "model/weights/gguf_cursor.h"
#include "model/weights/tensor_type.h"

namespace reel::model {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr std::string_view kAlignmentKey = "general.alignment";
constexpr std::string_view kShapeKey = "comfy.gguf.orig_shape.";
constexpr std::string_view kSplitKey = "split.count";
constexpr uint64_t kDefaultAlignment = 32, kLeastAlignment = 8, kMostAlignment = 65'536;
constexpr uint64_t kMostSide = uint64_t{1} << 31;
constexpr uint32_t kMostRank = 4, kMostNotedRank = 5;

// Types of the metadata's values.
enum Value : uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kText,
  kArray,
  kU64,
  kI64,
  kF64,
  kNumValues,
};

absl::Status Error(absl::string_view rule, std::string_view name = {},
                   absl::string_view what = {}) {
  return absl::FailedPreconditionError(absl::StrCat(
      rule, name.empty() ? "" : ": ", Quoted(name.substr(0, 64)), what.empty() ? "" : ": ", what));
}

absl::Status At(const absl::Status& status, std::string_view name) {
  return status.ok() ? status : Error(status.message(), name);
}

// As text; StrCat knows no bytes.
template <typename T>
absl::StatusOr<std::string> NumberText(GgufCursor& cursor) {
  REEL_ASSIGN_OR_RETURN(const T value, cursor.Number<T>());
  if constexpr (sizeof(T) == 1) return absl::StrCat(static_cast<int>(value));
  return absl::StrCat(value);
}

absl::StatusOr<std::string> BoolText(GgufCursor& cursor) {
  REEL_ASSIGN_OR_RETURN(const uint8_t value, cursor.Number<uint8_t>());
  if (value > 1) return Error(absl::StrCat("a bool must be 0 or 1, not ", int{value}));
  return std::string(value == 1 ? "true" : "false");
}

class Parser {
 public:
  Parser(absl::Span<const std::byte> file, const GgufLimits& limits)
      : file_(file),
        limits_(limits),
        cursor_(
            file.subspan(0, std::min(file.size(), static_cast<size_t>(limits.max_header_bytes)))) {}

  absl::StatusOr<WeightHeader> Parse();

 private:
  absl::Status ReadVersion();
  absl::Status ReadPair();
  absl::Status ReadArray(const std::string& key);
  absl::Status ReadShape(const std::string& key, uint64_t count);
  absl::Status ReadAlignment(uint32_t type);
  absl::StatusOr<std::string> ReadValue(uint32_t type);
  absl::Status ReadTensor();
  absl::Status ReadSides(TensorEntry& tensor);
  absl::Status Place(TensorEntry& tensor, uint64_t offset);
  absl::Status PlaceData();
  absl::Status GiveNotedShapes();

  absl::Span<const std::byte> file_;
  const GgufLimits& limits_;
  GgufCursor cursor_;
  WeightHeader header_;
  int64_t alignment_ = kDefaultAlignment;
  int64_t data_bytes_ = 0;  // of the tensors so far, each padded
  int64_t data_end_ = 0;    // without the last one's padding
  std::set<std::string> keys_, names_;
  std::map<std::string, std::vector<int64_t>> noted_shapes_;  // by tensor
};

absl::Status Parser::ReadVersion() {
  REEL_RETURN_IF_ERROR(cursor_.Skip(kMagic.size(), 1));
  REEL_ASSIGN_OR_RETURN(const uint32_t version, cursor_.Number<uint32_t>());
  if (version == 2 || version == 3) return absl::OkStatus();
  if (version == 0x02000000 || version == 0x03000000) {
    return Error("the GGUF file is big-endian, which Reel does not read");
  }
  return Error(absl::StrCat("Reel reads GGUF versions 2 and 3, not ", version));
}

absl::Status Parser::ReadAlignment(uint32_t type) {
  if (type != kU32) return Error("the alignment must be a u32", kAlignmentKey);
  REEL_ASSIGN_OR_RETURN(const uint32_t value, cursor_.Number<uint32_t>());
  if (!std::has_single_bit(value) || value < kLeastAlignment || value > kMostAlignment) {
    return Error("the alignment must be a power of two from 8 to 65536", kAlignmentKey,
                 absl::StrCat(value));
  }
  alignment_ = value;
  return absl::OkStatus();
}

absl::StatusOr<std::string> Parser::ReadValue(uint32_t type) {
  switch (type) {
    case kU8:
      return NumberText<uint8_t>(cursor_);
    case kI8:
      return NumberText<int8_t>(cursor_);
    case kU16:
      return NumberText<uint16_t>(cursor_);
    case kI16:
      return NumberText<int16_t>(cursor_);
    case kU32:
      return NumberText<uint32_t>(cursor_);
    case kI32:
      return NumberText<int32_t>(cursor_);
    case kF32:
      return NumberText<float>(cursor_);
    case kBool:
      return BoolText(cursor_);
    case kText: {
      REEL_ASSIGN_OR_RETURN(const std::string_view text, cursor_.Text(limits_.max_string_bytes));
      if (!CountCharacters(text).has_value()) return Error("a text is not UTF-8");
      return std::string(text);
    }
    case kU64:
      return NumberText<uint64_t>(cursor_);
    case kI64:
      return NumberText<int64_t>(cursor_);
    case kF64:
      return NumberText<double>(cursor_);
    default:
      return Error(absl::StrCat("a value of the unknown type ", type));
  }
}

// The shape of a tensor that GGUF has no ranks for.
absl::Status Parser::ReadShape(const std::string& key, uint64_t count) {
  if (count < 1 || count > kMostNotedRank) return Error("a shape must have one to five sides", key);
  std::vector<int64_t> shape;
  for (uint64_t i = 0; i < count; ++i) {
    REEL_ASSIGN_OR_RETURN(const int32_t side, cursor_.Number<int32_t>());
    if (side < 1) return Error("a side must be above 0", key);
    shape.push_back(side);
  }
  noted_shapes_[key.substr(kShapeKey.size())] = std::move(shape);
  return absl::OkStatus();
}

absl::Status Parser::ReadArray(const std::string& key) {
  REEL_ASSIGN_OR_RETURN(const uint32_t type, cursor_.Number<uint32_t>());
  REEL_ASSIGN_OR_RETURN(const uint64_t count, cursor_.Number<uint64_t>());
  if (type >= kNumValues) return Error(absl::StrCat("an array of the unknown type ", type), key);
  if (type == kArray) return Error("an array of arrays", key);
  if (count > limits_.max_array_elements) {
    return Error("an array is too long", key, absl::StrCat(count));
  }
  if (key.starts_with(kShapeKey) && type == kI32) return ReadShape(key, count);
  if (key.starts_with(kShapeKey)) return Error("a shape must be an array of i32", key);
  if (type != kText) {
    constexpr uint64_t kBytes[kNumValues] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return At(cursor_.Skip(count, kBytes[type]), key);
  }
  for (uint64_t i = 0; i < count; ++i) {
    REEL_RETURN_IF_ERROR(At(cursor_.Text(limits_.max_string_bytes).status(), key));
  }
  return absl::OkStatus();
}

absl::Status Parser::ReadPair() {
  REEL_ASSIGN_OR_RETURN(const std::string_view text, cursor_.Text(limits_.max_key_bytes));
  const std::string key(text);
  const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
  if (key.empty() || !std::all_of(key.begin(), key.end(), printable)) {
    return Error("a key must be printable ASCII", key);
  }
  if (!keys_.insert(key).second) return Error("a key comes twice", key);
  REEL_ASSIGN_OR_RETURN(const uint32_t type, cursor_.Number<uint32_t>());
  if (key == kAlignmentKey) return ReadAlignment(type);
  if (type == kArray) return ReadArray(key);
  if (key.starts_with(kShapeKey)) return Error("a shape must be an array of i32", key);
  absl::StatusOr<std::string> value = ReadValue(type);
  if (!value.ok()) return At(value.status(), key);
  if (key == kSplitKey && *value != "0" && *value != "1") {
    return Error("the file is one of several that a model was split into; join them first", key,
                 *value);
  }
  header_.metadata[key] = *std::move(value);
  return absl::OkStatus();
}

// From the fastest dimension on in the file.
absl::Status Parser::ReadSides(TensorEntry& tensor) {
  REEL_ASSIGN_OR_RETURN(const uint32_t rank, cursor_.Number<uint32_t>());
  if (rank < 1 || rank > kMostRank) {
    return Error("a tensor must have one to four sides", tensor.name, absl::StrCat(rank));
  }
  int64_t elements = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    REEL_ASSIGN_OR_RETURN(const uint64_t side, cursor_.Number<uint64_t>());
    if (side < 1 || side > kMostSide) {
      return Error("a tensor's side must be 1 to 2^31", tensor.name, absl::StrCat(side));
    }
    if (static_cast<int64_t>(side) > limits_.max_elements / elements) {
      return Error("a tensor is too large", tensor.name);
    }
    elements *= static_cast<int64_t>(side);
    tensor.shape.insert(tensor.shape.begin(), static_cast<int64_t>(side));
  }
  return absl::OkStatus();
}

int64_t Elements(const std::vector<int64_t>& shape) {
  int64_t elements = 1;
  for (const int64_t side : shape) elements *= side;
  return elements;
}

// Tensors follow each other in the order of their entries, each padded.
absl::Status Parser::Place(TensorEntry& tensor, uint64_t offset) {
  const int64_t block = BlockElementsOf(tensor.type);
  if (tensor.shape.back() % block != 0) {
    const std::string_view type = NameOf(tensor.type);
    return Error("a tensor's rows are not whole blocks", tensor.name,
                 absl::StrCat(tensor.shape.back(), " values of ", std::string(type)));
  }
  if (offset != static_cast<uint64_t>(data_bytes_)) {
    return Error("a tensor does not lie behind the one before it", tensor.name,
                 absl::StrCat("at ", offset, ", not at ", data_bytes_));
  }
  // At most 2^40 elements of 4 bytes each: nothing here wraps.
  const int64_t bytes = Elements(tensor.shape) / block * BytesOf(tensor.type);
  tensor.begin = data_bytes_;
  tensor.end = data_end_ = data_bytes_ + bytes;
  data_bytes_ = (data_end_ + alignment_ - 1) / alignment_ * alignment_;
  if (data_end_ > static_cast<int64_t>(file_.size())) {
    return Error("a tensor lies outside the file", tensor.name);
  }
  return absl::OkStatus();
}

absl::Status Parser::ReadTensor() {
  TensorEntry tensor;
  REEL_ASSIGN_OR_RETURN(const std::string_view name, cursor_.Text(limits_.max_name_bytes));
  tensor.name = std::string(name);
  if (tensor.name.empty() || tensor.name.find('\0') != std::string::npos) {
    return Error("a tensor's name is empty or has a NUL byte");
  }
  if (!names_.insert(tensor.name).second) return Error("a tensor comes twice", tensor.name);
  REEL_RETURN_IF_ERROR(ReadSides(tensor));
  REEL_ASSIGN_OR_RETURN(const uint32_t number, cursor_.Number<uint32_t>());
  REEL_ASSIGN_OR_RETURN(const uint64_t offset, cursor_.Number<uint64_t>());
  const std::optional<TensorType> type = TensorTypeFromGguf(number);
  if (!type.has_value()) {
    return Error("Reel does not read the tensor's type", tensor.name,
                 absl::StrCat("number ", number));
  }
  tensor.type = *type;
  REEL_RETURN_IF_ERROR(Place(tensor, offset));
  header_.tensors.push_back(std::move(tensor));
  return absl::OkStatus();
}

absl::Status Parser::PlaceData() {
  const auto header_bytes = static_cast<int64_t>(cursor_.at());
  const int64_t begin = (header_bytes + alignment_ - 1) / alignment_ * alignment_;
  const int64_t behind = static_cast<int64_t>(file_.size()) - begin - data_end_;
  if (behind < 0) {
    return Error("a tensor lies outside the file", header_.tensors.back().name);
  }
  if (behind >= alignment_) {
    return Error(absl::StrCat("the file has extra bytes after its last tensor: ", behind));
  }
  for (TensorEntry& tensor : header_.tensors) {
    tensor.begin += begin;
    tensor.end += begin;
  }
  return absl::OkStatus();
}

absl::Status Parser::GiveNotedShapes() {
  for (TensorEntry& tensor : header_.tensors) {
    const auto noted = noted_shapes_.find(tensor.name);
    if (noted == noted_shapes_.end()) continue;
    int64_t left = Elements(tensor.shape);
    for (const int64_t side : noted->second) left = left % side == 0 ? left / side : 0;
    if (left != 1) {
      return Error("a noted shape has another number of values", tensor.name,
                   absl::StrCat("[", absl::StrJoin(noted->second, ","), "]"));
    }
    tensor.shape = noted->second;
    noted_shapes_.erase(noted);
  }
  if (noted_shapes_.empty()) return absl::OkStatus();
  return Error("a noted shape is that of no tensor", noted_shapes_.begin()->first);
}

absl::StatusOr<WeightHeader> Parser::Parse() {
  REEL_RETURN_IF_ERROR(ReadVersion());
  REEL_ASSIGN_OR_RETURN(const uint64_t tensors, cursor_.Number<uint64_t>());
  REEL_ASSIGN_OR_RETURN(const uint64_t pairs, cursor_.Number<uint64_t>());
  if (tensors < 1 || tensors > limits_.max_tensors) {
    return Error(
        absl::StrCat("the file must have 1 to ", limits_.max_tensors, " tensors, not ", tensors));
  }
  if (pairs > limits_.max_pairs) {
    return Error(absl::StrCat("the file has too many keys: ", pairs));
  }
  for (uint64_t i = 0; i < pairs; ++i) REEL_RETURN_IF_ERROR(ReadPair());
  for (uint64_t i = 0; i < tensors; ++i) REEL_RETURN_IF_ERROR(ReadTensor());
  REEL_RETURN_IF_ERROR(PlaceData());
  REEL_RETURN_IF_ERROR(GiveNotedShapes());
  return std::move(header_);
}

}  // namespace

bool BeginsAsGguf(absl::Span<const std::byte> file) {
  return file.size() >= kMagic.size() &&
         std::string_view(reinterpret_cast<const char*>(file.data()), kMagic.size()) == kMagic;
}

absl::StatusOr<WeightHeader> ParseGgufHeader(absl::Span<const std::byte> file,
                                             const GgufLimits& limits) {
  if (!BeginsAsGguf(file)) return Error("the file does not begin as GGUF");
  return Parser(file, limits).Parse();
}

}  // namespace reel::model
