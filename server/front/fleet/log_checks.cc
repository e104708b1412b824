// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/log_checks.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "nlohmann/json.hpp"
#include "server/front/fleet/nats_handles.h"
#include "server/front/workers/file_descriptor.h"

namespace reel::front {
namespace {

using Version = std::array<int, 3>;
constexpr Version kOldestOfMany = {2, 10, 29};
constexpr Version kOldest = {2, 9, 0};
constexpr size_t kMostInfo = 64 * 1024;

// A pre-release (2.11.0-RC.1) is older than its release.
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

namespace {

// A subject that no gateway creates.
constexpr char kNobodys[] = "j.doctor.doctor.";

LogCheck CheckBrokers(const LogConnection& connection) {
  const FleetLogOptions& options = connection.options();
  std::vector<std::string> words;
  bool all_answer = true, all_new = true;
  for (const std::string& url : options.urls) {
    const absl::StatusOr<std::string> version = AskVersion(url, options.answer);
    all_answer &= version.ok();
    all_new &= !version.ok() || CheckVersion(*version, options.replicas).ok();
    words.push_back(version.ok() ? absl::StrCat(url, " ", *version)
                                 : absl::StrCat(url, ": ", version.status().message()));
  }
  const char* hint = "";
  if (!all_answer) hint = "Start the brokers that do not answer, or correct fleet.nats.urls.";
  if (!all_new) {
    hint = "Update the brokers: 2.10.29 is the oldest for more than one replica, 2.9 for one.";
  }
  return {"fleet brokers", all_answer && all_new, absl::StrJoin(words, "; "), hint};
}

// The replicas that lag behind.
std::string LatecomersOf(const jsClusterInfo& cluster) {
  std::vector<std::string> names;
  for (int i = 0; i < cluster.ReplicasLen; ++i) {
    const jsPeerInfo& peer = *cluster.Replicas[i];
    if (peer.Offline || !peer.Current) names.push_back(peer.Name == nullptr ? "?" : peer.Name);
  }
  return absl::StrJoin(names, ", ");
}

LogCheck CheckStreamNow(const LogConnection& connection) {
  jsStreamInfo* made = nullptr;
  jsErrCode code{};
  const std::string& stream = connection.names().stream();
  const natsStatus status =
      js_GetStreamInfo(&made, connection.jet_stream(), stream.c_str(), nullptr, &code);
  const StreamInfoPtr info(made);
  if (status != NATS_OK) {
    return {
        "fleet log", false,
        absl::StrCat(stream, ": ", natsStatus_GetText(status), " (", static_cast<int>(code), ")"),
        "Too few brokers are up to choose a leader, or this server's key may not publish to "
        "$JS.API.STREAM.INFO."};
  }
  const std::string late = info->Cluster == nullptr ? "" : LatecomersOf(*info->Cluster);
  const bool is_full = info->Config->MaxBytes > 0 &&
                       info->State.Bytes >= static_cast<uint64_t>(info->Config->MaxBytes / 10 * 9);
  const std::string detail =
      absl::StrCat(stream, ", ", info->Config->Replicas, " replicas, ", info->State.Msgs,
                   " messages, ", info->State.Bytes, " of at most ", info->Config->MaxBytes,
                   " bytes", late.empty() ? "" : absl::StrCat("; not current: ", late));
  if (is_full) {
    return {"fleet log", false, detail,
            "Raise MaxBytes of the stream: a log that is full takes no requests."};
  }
  return {"fleet log", late.empty(), detail,
          late.empty() ? "" : "Look at those brokers: one more that fails may end writing."};
}

bool MayWrite(const LogConnection& connection, const std::string& ending) {
  jsPubOptions options;
  jsPubOptions_Init(&options);
  options.ExpectStream = connection.names().stream().c_str();
  options.ExpectLastSeq = std::numeric_limits<int64_t>::max();
  options.MaxWait = absl::ToInt64Milliseconds(connection.options().answer);
  const std::string subject = connection.names().At(kNobodys + ending);
  jsPubAck* made = nullptr;
  jsErrCode code{};
  js_Publish(&made, connection.jet_stream(), subject.c_str(), "", 0, &options, &code);
  const PublishAckPtr ack(made);
  // The broker reports this only to writers with permission.
  return code == kWrongLastSequence;
}

void AddMissing(const LogConnection& connection, const std::vector<std::string>& endings,
                std::vector<std::string>& missing) {
  for (const std::string& ending : endings) {
    if (!MayWrite(connection, ending)) missing.push_back(ending);
  }
}

// A node behind gateways needs no permission to take requests.
LogCheck CheckPermissions(const LogConnection& connection, bool claims) {
  const bool takes = MayWrite(connection, "q");
  std::vector<std::string> missing;
  if (claims) AddMissing(connection, {"c.1", "f.1"}, missing);
  const bool renders = claims && missing.empty();
  if (takes) AddMissing(connection, {"x", "d", "r.1"}, missing);
  if (!takes && !claims) missing.emplace_back("q");
  std::string detail = takes ? "may take requests" : "may not take requests";
  if (claims) absl::StrAppend(&detail, renders ? ", may render" : ", may not render");
  if (missing.empty()) return {"fleet permissions", true, detail, ""};
  return {"fleet permissions", false, detail,
          absl::StrCat("Allow this server's key to publish to ",
                       connection.names().At("j.*.*.KIND"), " for each KIND of ",
                       absl::StrJoin(missing, ", "), ", with * in place of a number.")};
}

}  // namespace

std::vector<LogCheck> CheckLog(const LogConnection& connection, bool claims) {
  std::vector<LogCheck> checks = {CheckBrokers(connection)};
  if (!connection.IsUp()) {
    checks.push_back({"fleet log", false, "no broker is connected",
                      "Look at this server's log: it says why the brokers refuse it."});
    return checks;
  }
  checks.push_back(CheckStreamNow(connection));
  // Without a leader every write fails.
  if (checks.back().ok) checks.push_back(CheckPermissions(connection, claims));
  return checks;
}

}  // namespace reel::front
