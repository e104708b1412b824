// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/plugin_options.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "reel/config/v1/config.pb.h"
#include "server/front/config/legal_name.h"

namespace reel::front {
namespace {

constexpr size_t kHashDigits = 64;
// So that "name.variant" is a name too.
constexpr size_t kLongestName = 31;
// What other rows of ListKernels come from.
constexpr const char* kOtherOrigins[] = {"built-in", "framework"};

// Empty: it is fine.
std::string WrongName(const std::string& name) {
  if (!IsLegalName(name) || name.size() > kLongestName) {
    return absl::StrCat("must be 1..", kLongestName,
                        " of a-z, 0-9, '.', '_', '-', the first a "
                        "letter or digit: '",
                        name, "'");
  }
  if (std::count(std::begin(kOtherOrigins), std::end(kOtherOrigins), name) > 0) {
    return absl::StrCat("is the origin of Reel's own kernels: '", name, "'");
  }
  return "";
}

std::string WrongFolder(const std::string& folder) {
  if (folder.empty()) return "must be set: a folder below plugin_root";
  if (folder[0] == '/') return absl::StrCat("must lie below plugin_root: '", folder, "'");
  for (const absl::string_view part : absl::StrSplit(folder, '/')) {
    if (part == "..") return absl::StrCat("must not lead out of plugin_root: '", folder, "'");
  }
  return "";
}

std::string WrongHash(const std::string& hash) {
  const bool hex = std::all_of(hash.begin(), hash.end(), [](unsigned char c) {
    return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f');
  });
  if (hash.empty() || (hash.size() == kHashDigits && hex)) return "";
  return absl::StrCat("must be ", kHashDigits, " lower-case hex digits: '", hash, "'");
}

}  // namespace

std::vector<kernels::PluginSource> ReadPlugins(const config::v1::ServerConfig& config,
                                               std::vector<std::string>& problems) {
  std::vector<kernels::PluginSource> out;
  const std::string& root = config.plugin_root();
  if (!root.empty() && root[0] != '/') {
    problems.push_back(absl::StrCat("plugin_root: must be an absolute path: '", root, "'"));
  }
  if (root.empty() && config.plugins_size() > 0) {
    problems.push_back("plugin_root: must be set where there are plugins");
  }
  if (config.plugins_size() > kMaxPlugins) {
    problems.push_back(absl::StrCat("plugins: at most ", kMaxPlugins, ": ", config.plugins_size()));
    return out;
  }
  std::set<std::string> names;
  for (int i = 0; i < config.plugins_size(); ++i) {
    const config::v1::Plugin& plugin = config.plugins(i);
    const auto check = [&](const char* field, const std::string& wrong) {
      if (!wrong.empty()) problems.push_back(absl::StrCat("plugins[", i, "].", field, ": ", wrong));
    };
    check("name", WrongName(plugin.name()));
    if (!names.insert(plugin.name()).second) {
      check("name", absl::StrCat("is listed twice: '", plugin.name(), "'"));
    }
    check("folder", WrongFolder(plugin.folder()));
    check("sha256", WrongHash(plugin.sha256()));
    out.push_back({.name = plugin.name(),
                   .root = root,
                   .folder = plugin.folder(),
                   .sha256 = plugin.sha256()});
  }
  return out;
}

}  // namespace reel::front
