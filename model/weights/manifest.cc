// SPDX-License-Identifier: Apache-2.0
#include "model/weights/manifest.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/digest/sha256.h"
#include "kernels/base/status_macros.h"
#include "model/weights/checkpoint.h"

namespace reel::model {
namespace {

constexpr size_t kMaxManifestBytes = 1 << 20;
constexpr size_t kSumDigits = 64;
constexpr size_t kPieceBytes = 16 << 20;

using Sums = std::map<std::string, std::string, std::less<>>;  // name to lower-case hex

bool IsSum(std::string_view text) {
  return text.size() == kSumDigits && std::all_of(text.begin(), text.end(), absl::ascii_isxdigit);
}

// Two characters follow the sum: a space, and one for text or binary.
absl::Status ReadLine(std::string_view line, Sums& sums) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty() || line.starts_with('#')) return absl::OkStatus();
  const std::string_view sum = line.substr(0, std::min(kSumDigits, line.size()));
  if (!IsSum(sum) || line.size() < kSumDigits + 3 || line[kSumDigits] != ' ') {
    return absl::FailedPreconditionError("is not of the form \"sha256  file\"");
  }
  std::string_view name = line.substr(kSumDigits + 2);
  if (name.starts_with("./")) name.remove_prefix(2);
  sums[std::string(name)] = absl::AsciiStrToLower(std::string(sum));
  return absl::OkStatus();
}

absl::StatusOr<Sums> ReadManifest(const std::string& path) {
  REEL_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  std::string_view rest(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  if (rest.size() > kMaxManifestBytes) {
    return absl::FailedPreconditionError(absl::StrCat("the manifest is too long: ", path, ": ",
                                                      rest.size(), " bytes, above ",
                                                      kMaxManifestBytes));
  }
  Sums sums;
  for (int number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    if (const absl::Status read = ReadLine(rest.substr(0, end), sums); !read.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat("bad manifest: ", path, ": line ", number, " ", read.message()));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return sums;
}

}  // namespace

std::string SumOf(const MappedFile& file) {
  Sha256 hash;
  for (size_t at = 0; at < file.bytes().size(); at += kPieceBytes) {
    const auto piece = file.bytes().subspan(at, kPieceBytes);
    hash.Update({reinterpret_cast<const char*>(piece.data()), piece.size()});
    file.DropPages(piece);
  }
  return hash.Hex();
}

std::vector<ListedFile> FilesOf(const std::string& root, const std::vector<std::string>& parts) {
  std::vector<ListedFile> files;
  for (const std::string& part : parts) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(root + "/" + part, ignored)) {
      if (!entry.is_regular_file(ignored)) continue;
      files.push_back({part + "/" + entry.path().filename().string(), entry.path().string()});
    }
  }
  std::sort(files.begin(), files.end(),
            [](const ListedFile& a, const ListedFile& b) { return a.name < b.name; });
  return files;
}

absl::StatusOr<std::string> VerifyFiles(const std::string& manifest,
                                        const std::vector<ListedFile>& files) {
  REEL_ASSIGN_OR_RETURN(const Sums sums, ReadManifest(manifest));
  std::map<std::string, std::string> lines;  // by name
  for (const ListedFile& file : files) {
    const auto listed = sums.find(file.name);
    if (listed == sums.end()) {
      if (!file.name.ends_with(".safetensors") && !IsWeightFile(file.path)) continue;
      return absl::FailedPreconditionError(
          absl::StrCat("a weight file is not in its manifest: ", file.path, ": no ", file.name,
                       " in ", manifest));
    }
    REEL_ASSIGN_OR_RETURN(const MappedFile mapped, MappedFile::Open(file.path));
    const std::string sum = SumOf(mapped);
    lines[file.name] = absl::StrCat(sum, "  ", file.name, "\n");
    if (sum == listed->second) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("a file does not match its manifest: ", file.path, ": its SHA-256 is ", sum,
                     ", ", manifest, " has ", listed->second));
  }
  Sha256 all;
  for (const auto& [name, line] : lines) all.Update(line);
  return all.Hex();
}

}  // namespace reel::model
