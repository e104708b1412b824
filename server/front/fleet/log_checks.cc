// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/log_checks.h"

#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/front/fleet/log_headers.h"
#include "server/front/fleet/server_version.h"

namespace reel::front {
namespace {

// A video that no gateway makes.
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

// Which replicas do not follow.
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
  // It is told only to who may write.
  return code == kWrongLastSequence;
}

void AddMissing(const LogConnection& connection, const std::vector<std::string>& endings,
                std::vector<std::string>& missing) {
  for (const std::string& ending : endings) {
    if (!MayWrite(connection, ending)) missing.push_back(ending);
  }
}

// A node behind gateways need not take requests.
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
  // Without a leader nobody may write anything.
  if (checks.back().ok) checks.push_back(CheckPermissions(connection, claims));
  return checks;
}

}  // namespace reel::front
