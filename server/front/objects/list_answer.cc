// SPDX-License-Identifier: Apache-2.0
#include "server/front/objects/list_answer.h"

#include "absl/strings/numbers.h"

namespace reel::front {
namespace {

constexpr char kOpen[] = "<Contents>";
constexpr char kClose[] = "</Contents>";

absl::Status NoList() {
  return absl::UnavailableError("The object store does not answer with a list of objects");
}

absl::StatusOr<ObjectEntry> ReadEntry(std::string_view xml) {
  ObjectEntry entry;
  const std::string changed = TextOf(xml, "LastModified").value_or("");
  if (!absl::SimpleAtoi(TextOf(xml, "Size").value_or(""), &entry.size) || entry.size < 0 ||
      !absl::ParseTime(absl::RFC3339_full, changed, &entry.changed, nullptr)) {
    return NoList();
  }
  entry.key = TextOf(xml, "Key").value_or("");
  return entry;
}

}  // namespace

std::optional<std::string> TextOf(std::string_view xml, std::string_view name) {
  const std::string open = "<" + std::string(name) + ">";
  const std::string close = "</" + std::string(name) + ">";
  const size_t from = xml.find(open);
  if (from == std::string_view::npos) return std::nullopt;
  const std::string_view rest = xml.substr(from + open.size());
  const size_t size = rest.find('<');
  if (size == std::string_view::npos || rest.substr(size, close.size()) != close) {
    return std::nullopt;
  }
  return std::string(rest.substr(0, size));
}

absl::StatusOr<ObjectPage> ReadListAnswer(std::string_view xml) {
  if (xml.find("<ListBucketResult") == std::string_view::npos) return NoList();
  ObjectPage page;
  const std::optional<std::string> more = TextOf(xml, "IsTruncated");
  if (more != "true" && more != "false") return NoList();
  page.more = *more == "true";
  for (size_t from = xml.find(kOpen); from != std::string_view::npos;) {
    const size_t to = xml.find(kClose, from);
    if (to == std::string_view::npos) return NoList();
    absl::StatusOr<ObjectEntry> entry = ReadEntry(xml.substr(from, to - from));
    if (!entry.ok()) return entry.status();
    if (IsLegalKey(entry->key)) page.objects.push_back(*std::move(entry));
    from = xml.find(kOpen, to);
  }
  return page;
}

}  // namespace reel::front
