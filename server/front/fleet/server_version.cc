// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/server_version.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "nlohmann/json.hpp"
#include "server/front/workers/file_descriptor.h"

namespace reel::front {
namespace {

using Version = std::array<int, 3>;
constexpr Version kOldestOfMany = {2, 10, 29};
constexpr Version kOldest = {2, 9, 0};
constexpr size_t kMostInfo = 64 * 1024;

// What comes before a release (2.11.0-RC.1) is older than it.
bool ReadVersion(const std::string& text, Version& version, bool& before) {
  const std::vector<std::string> parts =
      absl::StrSplit(text.substr(0, text.find_first_of("-+")), '.');
  if (parts.size() != version.size()) return false;
  for (size_t i = 0; i < version.size(); ++i) {
    if (!absl::SimpleAtoi(parts[i], &version[i]) || version[i] < 0) return false;
  }
  before = text.find('-') != std::string::npos;
  return true;
}

struct Place {
  std::string host, port;
};

Place PlaceOf(std::string url) {
  if (const size_t scheme = url.find("://"); scheme != std::string::npos) url.erase(0, scheme + 3);
  url = url.substr(0, url.find('/'));
  if (const size_t user = url.rfind('@'); user != std::string::npos) url.erase(0, user + 1);
  const size_t colon = url.rfind(':');
  if (colon == std::string::npos || url.back() == ']') return {url, "4222"};
  return {url.substr(0, colon), url.substr(colon + 1)};
}

bool WaitFor(int socket, short events, absl::Time end) {
  for (;;) {
    const absl::Duration left = end - absl::Now();
    if (left <= absl::ZeroDuration()) return false;
    pollfd wait{socket, events, 0};
    const int ready = poll(&wait, 1, static_cast<int>(absl::ToInt64Milliseconds(left)) + 1);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

FileDescriptor ConnectTo(const addrinfo& place, absl::Time end) {
  FileDescriptor socket(
      ::socket(place.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, place.ai_protocol));
  if (!socket) return {};
  if (connect(socket.get(), place.ai_addr, place.ai_addrlen) == 0) return socket;
  if (errno != EINPROGRESS || !WaitFor(socket.get(), POLLOUT, end)) return {};
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) return {};
  return socket;
}

std::string ReadLine(int socket, absl::Time end) {
  std::string line;
  char piece[4096];
  while (line.size() < kMostInfo && line.find('\n') == std::string::npos) {
    const ssize_t some = recv(socket, piece, sizeof piece, 0);
    if (some > 0) {
      line.append(piece, static_cast<size_t>(some));
    } else if (some == 0 || (errno != EAGAIN && errno != EINTR) || !WaitFor(socket, POLLIN, end)) {
      return "";
    }
  }
  return line.substr(0, line.find('\n'));
}

}  // namespace

absl::StatusOr<std::string> VersionOfInfo(const std::string& line) {
  const absl::Status refused =
      absl::InvalidArgumentError("what answers there does not greet as a NATS server does");
  if (line.compare(0, 5, "INFO ") != 0) return refused;
  const auto info = nlohmann::json::parse(line.begin() + 5, line.end(), nullptr, false);
  if (!info.is_object() || !info.contains("version") || !info["version"].is_string()) {
    return refused;
  }
  return info["version"].get<std::string>();
}

absl::Status CheckVersion(const std::string& version, int replicas) {
  const Version oldest = replicas > 1 ? kOldestOfMany : kOldest;
  Version found{};
  bool before = false;
  if (!ReadVersion(version, found, before)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the NATS server tells no version that can be read: \"", version, "\""));
  }
  if (found > oldest || (found == oldest && !before)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the NATS server is too old: ", version, "; a log of ", replicas,
                   " replicas wants ", oldest[0], ".", oldest[1], ".", oldest[2], " or newer"));
}

absl::StatusOr<std::string> AskVersion(const std::string& url, absl::Duration limit) {
  const absl::Time end = absl::Now() + limit;
  const Place place = PlaceOf(url);
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(place.host.c_str(), place.port.c_str(), &wanted, &found) != 0) {
    return absl::UnavailableError(
        absl::StrCat("the NATS server's name is not found: ", place.host));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> places(found, &freeaddrinfo);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    const FileDescriptor socket = ConnectTo(*one, end);
    if (!socket) continue;
    const std::string line = ReadLine(socket.get(), end);
    if (!line.empty()) return VersionOfInfo(line);
  }
  return absl::UnavailableError(
      absl::StrCat("no NATS server answers at ", place.host, ":", place.port));
}

}  // namespace reel::front
