// SPDX-License-Identifier: Apache-2.0
#include "model/weights/checkpoint.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/program/nearest_path.h"
#include "kernels/base/status_macros.h"
#include "model/weights/gguf_header.h"
#include "model/weights/json_file.h"
#include "model/weights/mapped_file.h"
#include "model/weights/safetensors_header.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

constexpr char kIndexFile[] = "model_index.json";
constexpr size_t kLengthBytes = 8;

// Checks the eight bytes of the header's length and that a JSON object follows. WeightSet::OpenFile
// reports other errors.
bool BeginsAsSafetensors(std::string_view bytes) {
  if (bytes.size() <= kLengthBytes || bytes[kLengthBytes] != '{') return false;
  uint64_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    length |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return length <= static_cast<uint64_t>(SafetensorsLimits{}.max_header_bytes);
}

// Names a known other kind of file, and the remedy; empty: unknown.
std::string_view OtherKind(std::string_view bytes) {
  if (bytes.starts_with("{")) {
    return "is a JSON file; give the folder of a model_index.json, or a safetensors file";
  }
  if (bytes.starts_with("PK\x03\x04") || bytes.starts_with("\x80")) {
    return "is a pickled PyTorch file, which can run code when it is read; use the safetensors "
           "file";
  }
  return {};
}

absl::Status NotAModel(const std::string& path, std::string_view what) {
  return absl::FailedPreconditionError(
      absl::StrCat("The path is not a model: ", path, " ", std::string(what)));
}

// A folder below this one that has a model, as a hub's cache keeps it; empty: none was found within
// bounds.
std::string ModelBelow(const std::string& folder) {
  constexpr int kMaxDepth = 3, kMaxEntries = 2000;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(folder, error);
  int seen = 0;
  for (; !error && entry != std::filesystem::recursive_directory_iterator() && seen < kMaxEntries;
       entry.increment(error), ++seen) {
    if (entry->path().filename() == kIndexFile) return entry->path().parent_path().string();
    if (entry.depth() == kMaxDepth) entry.disable_recursion_pending();
  }
  return "";
}

absl::StatusOr<Checkpoint> ExamineFile(const std::string& path) {
  Checkpoint checkpoint;
  REEL_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  const std::string_view bytes(reinterpret_cast<const char*>(file.bytes().data()),
                               file.bytes().size());
  // A file that claims to be a weight file gets the reader's error.
  if (BeginsAsSafetensors(bytes) || BeginsAsGguf(file.bytes()) || path.ends_with(".safetensors")) {
    REEL_ASSIGN_OR_RETURN(checkpoint.file, WeightSet::OpenFile(path));
    return checkpoint;
  }
  const std::string_view kind = OtherKind(bytes);
  return NotAModel(path, kind.empty() ? "is neither a safetensors nor a GGUF file" : kind);
}

absl::StatusOr<Checkpoint> ExamineFolder(const std::string& path) {
  const absl::StatusOr<nlohmann::json> index = ReadJsonFile(absl::StrCat(path, "/", kIndexFile));
  if (absl::IsNotFound(index.status())) {
    const std::string below = ModelBelow(path);
    return NotAModel(path, absl::StrCat("is a folder without model_index.json",
                                        below.empty() ? "" : "; there is a model in ", below));
  }
  REEL_RETURN_IF_ERROR(index.status());
  const auto name = index->find("_class_name");
  if (name == index->end() || !name->is_string()) {
    return NotAModel(path, "has a model_index.json without _class_name");
  }
  Checkpoint checkpoint;
  checkpoint.pipeline_class = name->get<std::string>();
  return checkpoint;
}

}  // namespace

absl::StatusOr<Checkpoint> Examine(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return ExamineFolder(path);
  if (std::filesystem::is_regular_file(path, ignored)) return ExamineFile(path);
  const std::string nearest = NearestPath(path);
  return NotAModel(path, absl::StrCat("does not exist, or cannot be read",
                                      nearest.empty() ? "" : "; the nearest there is ", nearest));
}

bool IsFile(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

bool IsWeightFile(const std::string& path) {
  const auto file = MappedFile::Open(path);
  return file.ok() && (BeginsAsGguf(file->bytes()) ||
                       BeginsAsSafetensors({reinterpret_cast<const char*>(file->bytes().data()),
                                            file->bytes().size()}));
}

}  // namespace reel::model
