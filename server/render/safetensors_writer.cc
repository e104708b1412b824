// SPDX-License-Identifier: Apache-2.0
#include "server/render/safetensors_writer.h"

#include <bit>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/status_macros.h"

namespace reel::render {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors is little-endian");
constexpr size_t kAlignment = 8;

}  // namespace

int64_t TensorShape::bytes() const {
  int64_t count = sizeof(float);
  for (const int64_t dim : dims) count *= dim;
  return count;
}

absl::Status SafetensorsWriter::WriteHeader() {
  std::vector<std::string> entries;
  if (!metadata_.empty()) {
    const std::string words =
        absl::StrJoin(metadata_, ",",
                      [](std::string* text, const std::pair<const std::string, std::string>& word) {
                        absl::StrAppend(text, "\"", word.first, "\":\"", word.second, "\"");
                      });
    entries.push_back(absl::StrCat("\"__metadata__\":{", words, "}"));
  }
  int64_t offset = 0;
  for (const TensorShape& tensor : tensors_) {
    entries.push_back(absl::StrCat("\"", tensor.name, R"(":{"dtype":"F32","shape":[)",
                                   absl::StrJoin(tensor.dims, ","), R"(],"data_offsets":[)", offset,
                                   ",", offset + tensor.bytes(), "]}"));
    offset += tensor.bytes();
  }
  std::string header = absl::StrCat("{", absl::StrJoin(entries, ","), "}");
  header.resize((header.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const uint64_t size = header.size();
  REEL_RETURN_IF_ERROR(file_.Append({reinterpret_cast<const char*>(&size), sizeof(size)}));
  return file_.Append(header);
}

absl::Status SafetensorsWriter::Write(absl::Span<const std::byte> data) {
  written_ += static_cast<int64_t>(data.size());
  return file_.Append({reinterpret_cast<const char*>(data.data()), data.size()});
}

absl::Status SafetensorsWriter::Finish() const {
  int64_t announced = 0;
  for (const TensorShape& tensor : tensors_) announced += tensor.bytes();
  if (written_ == announced) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("The tensors are incomplete: ", written_, " of ", announced, " bytes"));
}

}  // namespace reel::render
