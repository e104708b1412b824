// SPDX-License-Identifier: Apache-2.0
#include "client/origin.h"

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/util/json_util.h"
#include "nlohmann/json.hpp"

namespace reel::client {
namespace {

using nlohmann::json;

constexpr char kFormat[] = "reel.origin.1";
constexpr std::string_view kUuid{"\x1e\x8c\xf2\x2d\xf5\xc5\x4e\xba\x97\xd1\x89\x38\x59\x58\x55\xcd",
                                 16};
constexpr uint64_t kMostBytes = uint64_t{64} << 10;
constexpr int kMostDepth = 8;
constexpr int kMostBoxes = 64;         // of a head, which has four
constexpr size_t kMostEntries = 1024;  // of a list or a map

absl::Status Refused(std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("What it says of how it was made cannot be read: ", std::string(why)));
}

uint64_t BigEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

// So many bytes; nullopt: the file ends before.
std::optional<std::string> Take(std::istream& file, size_t count) {
  std::string bytes(count, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  if (static_cast<size_t>(file.gcount()) != count) return std::nullopt;
  return bytes;
}

struct Box {
  std::string type;
  uint64_t left = 0;  // bytes behind its header
};

// nullopt: the file ends here, or is no MP4.
std::optional<Box> NextBox(std::istream& file) {
  const auto header = Take(file, 8);
  if (!header) return std::nullopt;
  uint64_t size = BigEndian(std::string_view(*header).substr(0, 4)), taken = 8;
  if (size == 1) {  // a longer number follows
    const auto large = Take(file, 8);
    if (!large) return std::nullopt;
    size = BigEndian(*large);
    taken = 16;
  }
  if (size < taken) return std::nullopt;  // 0, to the file's end, is the last box
  return Box{header->substr(4), size - taken};
}

// False: the file cannot be that long.
bool Skip(std::istream& file, uint64_t bytes) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return bytes <= kMost && file.seekg(static_cast<std::streamoff>(bytes), std::ios::cur).good();
}

std::string Printable(std::string text) {
  for (char& character : text) {
    if (static_cast<unsigned char>(character) < 0x20 || character == 0x7F) character = '?';
  }
  return text;
}

// A member that is a text; nullopt: it is something else. Empty: there is none.
std::optional<std::string> Text(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return "";
  if (!found->is_string()) return std::nullopt;
  return Printable(found->get<std::string>());
}

absl::StatusOr<json> ParseBounded(std::string_view text) {
  if (text.size() > kMostBytes) {
    return Refused(absl::StrCat(text.size(), " bytes, above ", kMostBytes));
  }
  bool is_deep = false;
  const auto watch = [&is_deep](int depth, json::parse_event_t event, json&) {
    const bool opens =
        event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    is_deep = is_deep || (opens && depth >= kMostDepth);
    return !is_deep;
  };
  json parsed = json::parse(text, watch, /*allow_exceptions=*/false);
  if (is_deep) return Refused(absl::StrCat("it is nested deeper than ", kMostDepth));
  if (!parsed.is_object()) return Refused("it is no JSON object");
  return parsed;
}

absl::Status TakeModel(const json& parsed, Origin& origin) {
  const json model = parsed.value("model", json::object());
  if (!model.is_object()) return Refused("model is no object");
  const auto family = Text(model, "family"), weights = Text(model, "weights_sha256");
  if (!family || !weights) return Refused("a field of model is no text");
  origin.family = *family;
  origin.weights = *weights;
  const json adapters = model.value("adapters", json::array());
  if (!adapters.is_array() || adapters.size() > kMostEntries) {
    return Refused("model.adapters is no list");
  }
  for (const json& adapter : adapters) {
    if (!adapter.is_object()) return Refused("an entry of model.adapters is no object");
    const auto name = Text(adapter, "name"), sha256 = Text(adapter, "sha256");
    const json scale = adapter.value("scale", json(1));
    if (!name || !sha256 || !scale.is_number()) {
      return Refused("a field of model.adapters has another type");
    }
    origin.adapters.push_back(absl::StrCat(*name, " times ", scale.get<double>(), " ", *sha256));
  }
  return absl::OkStatus();
}

absl::Status TakeKernels(const json& parsed, Origin& origin) {
  const json kernels = parsed.value("kernels", json::object());
  if (!kernels.is_object() || kernels.size() > kMostEntries) return Refused("kernels is no map");
  for (const auto& [op, variant] : kernels.items()) {
    if (!variant.is_string()) return Refused("a variant of kernels is no text");
    origin.kernels[Printable(op)] = Printable(variant.get<std::string>());
  }
  return absl::OkStatus();
}

absl::Status TakeSpec(const json& parsed, Origin& origin) {
  const auto spec = parsed.find("spec");
  if (spec == parsed.end() || !spec->is_object()) return Refused("spec is no object");
  const std::string text = spec->dump(-1, ' ', false, json::error_handler_t::replace);
  const auto read = google::protobuf::util::JsonStringToMessage(text, &origin.spec);
  if (read.ok()) return absl::OkStatus();
  // Its message may quote a prompt.
  return Refused("a field of spec is unknown to this program or has another type");
}

void Compare(const char* what, const std::string& before, const std::string& now,
             std::vector<std::string>& differ) {
  const auto shown = [](const std::string& text) { return text.empty() ? "unknown" : text; };
  if (before == now) return;
  differ.push_back(absl::StrCat(what, ": ", shown(before), ", now ", shown(now)));
}

}  // namespace

absl::StatusOr<std::string> FindOrigin(std::istream& file) {
  for (int boxes = 0; boxes < kMostBoxes; ++boxes) {
    const auto box = NextBox(file);
    if (boxes == 0 && (!box || box->type != "ftyp")) {
      return absl::InvalidArgumentError("It is no MP4 file");
    }
    if (!box || box->type == "moof" || box->type == "mdat") break;
    uint64_t left = box->left;
    if (box->type == "uuid" && left >= kUuid.size()) {
      const auto uuid = Take(file, kUuid.size());
      left -= kUuid.size();
      if (uuid == kUuid) {
        if (left > kMostBytes) return Refused(absl::StrCat(left, " bytes, above ", kMostBytes));
        auto text = Take(file, left);
        return text ? absl::StatusOr<std::string>(*std::move(text))
                    : Refused("the file ends in it");
      }
    }
    if (!Skip(file, left)) break;
  }
  return absl::NotFoundError(
      "It does not say how it was made; `reel generate --origin spec` makes files that do");
}

absl::StatusOr<Origin> ParseOrigin(std::string_view text) {
  auto parsed = ParseBounded(text);
  if (!parsed.ok()) return parsed.status();
  const auto format = Text(*parsed, "format"), build = Text(*parsed, "build"),
             device = Text(*parsed, "device");
  if (format != kFormat) return Refused(absl::StrCat("it is not of the format ", kFormat));
  if (!build || !device) return Refused("build or device is no text");
  Origin origin;
  origin.build = *build;
  origin.device = *device;
  for (const auto take : {&TakeModel, &TakeKernels, &TakeSpec}) {
    if (absl::Status taken = take(*parsed, origin); !taken.ok()) return taken;
  }
  return origin;
}

absl::StatusOr<Origin> ReadOrigin(const std::string& path) {
  const auto of_file = [&path](const absl::Status& status) {
    return absl::Status(status.code(), absl::StrCat(path, ": ", status.message(), "."));
  };
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::InvalidArgumentError(absl::StrCat("Cannot read ", path, "."));
  auto text = FindOrigin(file);
  if (!text.ok()) return of_file(text.status());
  auto origin = ParseOrigin(*text);
  if (!origin.ok()) return of_file(origin.status());
  return origin;
}

std::vector<std::string> Differences(const Origin& before, const Origin& now) {
  std::vector<std::string> differ;
  Compare("build", before.build, now.build, differ);
  Compare("device", before.device, now.device, differ);
  Compare("model", before.family, now.family, differ);
  Compare("weights", before.weights, now.weights, differ);
  Compare("adapters in the weights", absl::StrJoin(before.adapters, "; "),
          absl::StrJoin(now.adapters, "; "), differ);
  std::set<std::string> ops;
  for (const auto* kernels : {&before.kernels, &now.kernels}) {
    for (const auto& [op, variant] : *kernels) ops.insert(op);
  }
  const auto variant_of = [](const Origin& origin, const std::string& op) {
    const auto found = origin.kernels.find(op);
    return found == origin.kernels.end() ? std::string() : found->second;
  };
  for (const std::string& op : ops) {
    Compare(absl::StrCat("kernel ", op).c_str(), variant_of(before, op), variant_of(now, op),
            differ);
  }
  return differ;
}

}  // namespace reel::client
