// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/plugin_options.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "reel/config/v1/config.pb.h"

namespace reel::front {
namespace {

// What other rows of ListKernels come from.
constexpr const char* kOtherOrigins[] = {"built-in", "framework"};

std::string WrongFolder(const std::string& folder) {
  if (absl::StartsWith(folder, "/"))
    return absl::StrCat("must lie below plugin_root: '", folder, "'");
  for (const absl::string_view part : absl::StrSplit(folder, '/')) {
    if (part == "..") return absl::StrCat("must not lead out of plugin_root: '", folder, "'");
  }
  return "";
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
  for (int i = 0; i < config.plugins_size(); ++i) {
    const config::v1::Plugin& plugin = config.plugins(i);
    const auto check = [&](const char* field, const std::string& wrong) {
      if (!wrong.empty()) problems.push_back(absl::StrCat("plugins[", i, "].", field, ": ", wrong));
    };
    if (std::count(std::begin(kOtherOrigins), std::end(kOtherOrigins), plugin.name()) > 0) {
      check("name", absl::StrCat("is the origin of Reel's own kernels: '", plugin.name(), "'"));
    }
    check("folder", WrongFolder(plugin.folder()));
    out.push_back({.name = plugin.name(),
                   .root = root,
                   .folder = plugin.folder(),
                   .sha256 = plugin.sha256()});
  }
  return out;
}

}  // namespace reel::front
