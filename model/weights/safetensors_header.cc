// SPDX-License-Identifier: Apache-2.0
#include "model/weights/safetensors_header.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/status_macros.h"
#include "model/weights/safetensors_sax.h"
#include "model/weights/tensor_type.h"

namespace reel::model {
namespace {

constexpr int64_t kLengthBytes = 8;

// The file begins with the header's length, little-endian.
absl::StatusOr<int64_t> HeaderBytes(absl::Span<const std::byte> file,
                                    const SafetensorsLimits& limits) {
  const auto file_bytes = static_cast<int64_t>(file.size());
  if (file_bytes < kLengthBytes) {
    return absl::FailedPreconditionError(
        absl::StrCat("the file is too short for a header: ", file_bytes, " bytes"));
  }
  uint64_t length = 0;
  for (int i = 0; i < kLengthBytes; ++i) {
    length |= std::to_integer<uint64_t>(file[static_cast<size_t>(i)]) << (8 * i);
  }
  if (length > static_cast<uint64_t>(limits.max_header_bytes)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the header is too long: ", length, " bytes, the limit is ", limits.max_header_bytes));
  }
  if (static_cast<int64_t>(length) > file_bytes - kLengthBytes) {
    return absl::FailedPreconditionError(absl::StrCat("the file ends inside its header: it needs ",
                                                      length, " bytes of ", file_bytes));
  }
  return static_cast<int64_t>(length);
}

// The size that the shape requires.
absl::StatusOr<int64_t> ShapeBytes(const TensorEntry& tensor) {
  int64_t bytes = BytesOf(tensor.type);
  for (const int64_t size : tensor.shape) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) {
      return absl::FailedPreconditionError(absl::StrCat("a tensor's shape overflows: ", tensor.name,
                                                        ": [", absl::StrJoin(tensor.shape, ","),
                                                        "]"));
    }
  }
  return bytes;
}

absl::Status CheckOffsets(const TensorEntry& tensor, int64_t data_bytes) {
  if (tensor.begin > tensor.end || tensor.end > data_bytes) {
    return absl::FailedPreconditionError(
        absl::StrCat("a tensor lies outside the file: ", tensor.name, ": bytes ", tensor.begin,
                     " to ", tensor.end, " of ", data_bytes));
  }
  REEL_ASSIGN_OR_RETURN(const int64_t bytes, ShapeBytes(tensor));
  if (tensor.end - tensor.begin != bytes) {
    return absl::FailedPreconditionError(absl::StrCat(
        "a tensor's size is not that of its shape: ", tensor.name, ": ", tensor.end - tensor.begin,
        " bytes for [", absl::StrJoin(tensor.shape, ","), "] of ",
        absl::string_view(NameOf(tensor.type).data(), NameOf(tensor.type).size())));
  }
  return absl::OkStatus();
}

// Sorts the tensors and checks that they cover the data exactly.
absl::Status CheckCover(std::vector<TensorEntry>& tensors, int64_t data_bytes) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  int64_t covered = 0;
  for (const TensorEntry& tensor : tensors) {
    if (tensor.begin != covered) {
      return absl::FailedPreconditionError(absl::StrCat(
          tensor.begin < covered ? "a tensor overlaps the one before it: "
                                 : "there is a gap before a tensor: ",
          tensor.name, ": begins at ", tensor.begin, ", the one before ends at ", covered));
    }
    covered = tensor.end;
  }
  if (covered != data_bytes) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the file has extra bytes after its last tensor: ", data_bytes - covered, " bytes"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WeightHeader> ParseSafetensorsHeader(absl::Span<const std::byte> file,
                                                    const SafetensorsLimits& limits) {
  REEL_ASSIGN_OR_RETURN(const int64_t header_bytes, HeaderBytes(file, limits));
  const char* text = reinterpret_cast<const char*>(file.data()) + kLengthBytes;
  if (std::memchr(text, 0, static_cast<size_t>(header_bytes)) != nullptr) {
    // The JSON parser takes it for the end.
    return absl::FailedPreconditionError("the header is not JSON: it holds a NUL byte");
  }
  WeightHeader header;
  SafetensorsSax sax(limits, header);
  if (!nlohmann::json::sax_parse(text, text + header_bytes, &sax)) return sax.status();

  const int64_t data_begin = kLengthBytes + header_bytes;
  const int64_t data_bytes = static_cast<int64_t>(file.size()) - data_begin;
  for (const TensorEntry& tensor : header.tensors) {
    REEL_RETURN_IF_ERROR(CheckOffsets(tensor, data_bytes));
  }
  REEL_RETURN_IF_ERROR(CheckCover(header.tensors, data_bytes));
  for (TensorEntry& tensor : header.tensors) {
    tensor.begin += data_begin;
    tensor.end += data_begin;
  }
  return header;
}

}  // namespace reel::model
