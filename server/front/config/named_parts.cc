// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/named_parts.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "kernels/base/program/nearest_path.h"
#include "kernels/dispatch/device_name.h"

namespace reel::front {
namespace {

void CheckFile(const std::string& key, const std::string& path,
               std::vector<std::string>& problems) {
  if (path.empty() || access(path.c_str(), R_OK) == 0) return;
  const std::string why = strerror(errno), nearest = NearestPath(path);
  problems.push_back(absl::StrCat(key, ": cannot be read: '", path, "': ", why,
                                  nearest.empty() ? "" : "; the nearest there is " + nearest));
}

}  // namespace

std::vector<std::string> MissingParts(const ServerOptions& options,
                                      const std::string& cuda_library) {
  std::vector<std::string> problems;
  for (size_t i = 0; i < options.models.size(); ++i) {
    const std::string at = absl::StrCat("models[", i, "].");
    CheckFile(at + "path", options.models[i].path, problems);
    CheckFile(at + "manifest_file", options.models[i].manifest_file, problems);
    CheckFile(at + "text_folder", options.models[i].text_folder, problems);
    const std::vector<model::PartFile>& parts = options.models[i].parts;
    for (size_t part = 0; part < parts.size(); ++part) {
      CheckFile(absl::StrCat(at, "parts[", part, "].path"), parts[part].path, problems);
    }
  }
  if (cuda_library.empty() || access(cuda_library.c_str(), R_OK) == 0) return problems;
  for (size_t i = 0; i < options.workers.size(); ++i) {
    const auto own = kernels::OwnDevicesOf(options.workers[i].device);
    if (!own.ok() || own->ranks[0] == kernels::kCpuRank) continue;
    problems.push_back(absl::StrCat("workers[", i, "].device: this build has no kernels for ",
                                    options.workers[i].device, ": there is no ", cuda_library));
  }
  return problems;
}

}  // namespace reel::front
