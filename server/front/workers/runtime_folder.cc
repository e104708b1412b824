// SPDX-License-Identifier: Apache-2.0
#include "server/front/workers/runtime_folder.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace reel::front {
namespace {

constexpr char kTemplate[] = "/reel-XXXXXX";
constexpr size_t kMaxBase = 80;  // with the template and the socket's name well below 107

}  // namespace

absl::StatusOr<RuntimeFolder> RuntimeFolder::Make(const std::string& base) {
  for (const std::string& place : {base, std::string("/tmp")}) {
    if (place.empty() || place.size() > kMaxBase) continue;
    std::string path = place + kTemplate;
    if (mkdtemp(path.data())) return RuntimeFolder(path);
  }
  return absl::UnavailableError(
      absl::StrCat("Cannot make a folder for the workers' socket: ", strerror(errno)));
}

RuntimeFolder::RuntimeFolder(std::string path) : path_(std::move(path)) {}

RuntimeFolder::RuntimeFolder(RuntimeFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

RuntimeFolder::~RuntimeFolder() {
  if (path_.empty()) return;
  unlink(socket().c_str());
  rmdir(path_.c_str());
}

}  // namespace reel::front
