// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program/nearest_path.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "kernels/base/program/nearest_name.h"

namespace reel {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxEntries = 1000;  // entries of a folder; larger ones are not searched

std::vector<std::string> NamesIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder.empty() ? "." : folder, error);
  for (; !error && entry != fs::directory_iterator() && names.size() < kMaxEntries;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  return names;
}

}  // namespace

std::string NearestPath(const std::string& path) {
  std::error_code ignored;
  const fs::path wanted = fs::path(path).lexically_normal();
  fs::path there;
  for (auto part = wanted.begin(); part != wanted.end(); ++part) {
    if (fs::exists(there / *part, ignored)) {
      there /= *part;
      continue;
    }
    const std::string nearest = NearestName(part->string(), NamesIn(there));
    if (nearest.empty()) return "";
    there /= nearest;
    for (++part; part != wanted.end() && fs::exists(there / *part, ignored); ++part) there /= *part;
    return there.string();
  }
  return "";
}

}  // namespace reel
