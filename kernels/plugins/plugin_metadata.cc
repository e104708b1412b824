// SPDX-License-Identifier: Apache-2.0
#include "kernels/plugins/plugin_metadata.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kernels/base/status_macros.h"
#include "nlohmann/json.hpp"

namespace reel::kernels {
namespace {

using Json = nlohmann::json;

constexpr size_t kLongestId = 128;
constexpr size_t kDigestBytes = 32;
constexpr size_t kMaxArchs = 64;
constexpr int kMaxDepth = 16;  // deeper values are ignored

absl::Status Bad(std::string_view key, std::string_view rule) {
  return absl::InvalidArgumentError(absl::StrCat(
      "metadata.json is not that of a kernel build: ", absl::string_view(key.data(), key.size()),
      " ", absl::string_view(rule.data(), rule.size())));
}

const Json* Find(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::optional<std::string> Text(const Json& object, const char* key) {
  const Json* value = Find(object, key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return value->get<std::string>();
}

bool IsIdentifier(const std::string& text) {
  if (text.empty() || text.size() > kLongestId || absl::ascii_isdigit(text[0])) return false;
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

// Accepts "a/b.so": a path that stays inside the build.
bool IsInnerPath(const std::string& path) {
  if (path.empty() || path.size() > 512 || path.find('\0') != std::string::npos) return false;
  for (const absl::string_view part : absl::StrSplit(path, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

absl::Status ReadBackend(const Json& root, PluginMetadata& out) {
  const Json* backend = Find(root, "backend");
  if (backend == nullptr || !backend->is_object()) return Bad("backend", "must be an object");
  out.backend = Text(*backend, "type").value_or("");
  if (out.backend != "cpu" && out.backend != "cuda") {
    return Bad("backend.type", "must be cpu or cuda");
  }
  const Json* archs = Find(*backend, "archs");
  if (archs == nullptr || archs->is_null()) return absl::OkStatus();
  if (!archs->is_array() || archs->size() > kMaxArchs) return Bad("backend.archs", "must be names");
  for (const Json& arch : *archs) {
    if (!arch.is_string()) return Bad("backend.archs", "must be names");
    out.archs.push_back(arch.get<std::string>());
  }
  return absl::OkStatus();
}

absl::Status ReadDigest(const Json& root, PluginMetadata& out) {
  const Json* digest = Find(root, "digest");
  if (digest == nullptr || !digest->is_object()) {
    return Bad("digest", "must say what each file is");
  }
  if (Text(*digest, "algorithm") != "sha256") return Bad("digest.algorithm", "must be sha256");
  const Json* files = Find(*digest, "files");
  if (files == nullptr || !files->is_object() || files->empty() ||
      files->size() > kMaxPluginFiles) {
    return Bad("digest.files", absl::StrCat("must name 1 to ", kMaxPluginFiles, " files"));
  }
  for (const auto& [path, value] : files->items()) {
    std::string bytes;
    if (!IsInnerPath(path)) return Bad("digest.files", "must be paths inside the build");
    if (!value.is_string() || !absl::Base64Unescape(value.get<std::string>(), &bytes) ||
        bytes.size() != kDigestBytes) {
      return Bad("digest.files", absl::StrCat("must be 32 bytes in base64: ", path));
    }
    out.files[path] = std::move(bytes);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PluginMetadata> ParsePluginMetadata(std::string_view text) {
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kMaxDepth; };
  const Json root = Json::parse(text, shallow, /*allow_exceptions=*/false);
  if (!root.is_object()) return Bad("it", "must be a JSON object");
  PluginMetadata out;
  out.id = Text(root, "id").value_or("");
  if (!IsIdentifier(out.id)) return Bad("id", "must be an identifier: letters, digits and _");
  out.name = Text(root, "name").value_or("");
  if (out.name.empty() || out.name.size() > kLongestId) return Bad("name", "must be there");
  REEL_RETURN_IF_ERROR(ReadBackend(root, out));
  REEL_RETURN_IF_ERROR(ReadDigest(root, out));
  return out;
}

}  // namespace reel::kernels
