// SPDX-License-Identifier: Apache-2.0
#include "server/front/kernel_log/xid.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace reel::front {
namespace {

constexpr std::string_view kOpening = "NVRM: Xid (PCI:";
constexpr size_t kMostBusId = 16;
constexpr size_t kMostText = 200;

// By the actions that the driver's catalogue gives: for these the application is started anew.
constexpr int kOfPrograms[] = {8, 11, 13, 31, 32, 37, 43, 45, 68, 69, 109};
constexpr int kOfMemory[] = {48, 63, 64, 92, 94, 95, 140, 160, 171, 172};
constexpr int kOfLinks[] = {74, 121, 144, 145, 146, 147, 148, 149, 150};

template <size_t count>
bool IsOneOf(const int (&numbers)[count], int number) {
  return std::ranges::find(numbers, number) != std::end(numbers);
}

bool IsOfBusId(char c) { return absl::ascii_isxdigit(static_cast<unsigned char>(c)) || c == ':'; }

// The text up to the next byte of `end`, which `rest` is then behind; npos: all of it.
std::string_view TakeUntil(std::string_view end, std::string_view& rest) {
  const size_t size = std::min(rest.find_first_of(end), rest.size());
  const std::string_view taken = rest.substr(0, size);
  rest.remove_prefix(size);
  return taken;
}

}  // namespace

std::string_view NameOf(XidClass what) {
  switch (what) {
    case XidClass::kProgram:
      return "program";
    case XidClass::kMemory:
      return "memory";
    case XidClass::kLink:
      return "link";
    case XidClass::kDevice:
      break;
  }
  return "device";
}

XidClass Xid::what() const {
  if (IsOneOf(kOfPrograms, number)) return XidClass::kProgram;
  if (IsOneOf(kOfMemory, number)) return XidClass::kMemory;
  return IsOneOf(kOfLinks, number) ? XidClass::kLink : XidClass::kDevice;
}

// "NVRM: Xid (PCI:0000:3b:00): 79, pid=7, ..."; of a slice "(PCI:0000:3b:00 GPU-I:05)".
std::optional<Xid> ReadXid(std::string_view line) {
  const size_t at = line.find(kOpening);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(at + kOpening.size());
  Xid xid;
  xid.bus_id = TakeUntil(" )", rest).substr(0, kMostBusId + 1);
  if (xid.bus_id.empty() || xid.bus_id.size() > kMostBusId ||
      !std::ranges::all_of(xid.bus_id, IsOfBusId)) {
    return std::nullopt;
  }
  TakeUntil(")", rest);
  if (!rest.starts_with("): ")) return std::nullopt;
  rest.remove_prefix(3);
  const std::string_view number = TakeUntil(", \n", rest);
  if (!absl::SimpleAtoi(absl::string_view(number.data(), number.size()), &xid.number) ||
      xid.number < 1) {
    return std::nullopt;
  }
  TakeUntil(" \n", rest);
  std::string_view text = TakeUntil("\n", rest);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  xid.text = text.substr(0, kMostText);
  return xid;
}

}  // namespace reel::front
