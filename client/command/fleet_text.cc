// SPDX-License-Identifier: Apache-2.0
#include "client/command/fleet_text.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/command/quantity.h"
#include "client/command/text_table.h"

namespace reel::client {
namespace {

const char* NameOf(v1::FleetNodeState state) {
  switch (state) {
    case v1::FLEET_NODE_STATE_SERVING:
      return "serving";
    case v1::FLEET_NODE_STATE_DRAINING:
      return "draining";
    case v1::FLEET_NODE_STATE_SILENT:
      return "silent";
    case v1::FLEET_NODE_STATE_LEFT:
      return "left";
    default:
      return "unknown";
  }
}

std::string ModelNames(const v1::FleetNode& node) {
  return absl::StrJoin(node.models(), ", ", [](std::string* out, const v1::FleetNodeModel& model) {
    absl::StrAppend(out, model.name(), model.ready_devices() > 0 ? "" : " (not ready)");
  });
}

std::string Nodes(const v1::GetFleetResponse& fleet) {
  TextTable table({"NODE", "STATE", "BEAT", "DEVICES", "VIDEOS", "ROOM", "BEHIND", "ADDRESS",
                   "BUILD", "MODELS"});
  for (const v1::FleetNode& node : fleet.nodes()) {
    table.AddRow({absl::StrCat(node.name(), node.name() == fleet.node() ? "*" : ""),
                  NameOf(node.state()),
                  absl::StrCat(HumanDuration(FromProto(node.since_beat())), " ago"),
                  absl::StrCat(node.ready_devices()), absl::StrCat(node.claimed()),
                  absl::StrCat(node.room()), absl::StrCat(node.behind_messages()), node.address(),
                  node.build(), ModelNames(node)});
  }
  return table.Render();
}

std::string Backlog(const v1::GetFleetResponse& fleet) {
  if (fleet.models().empty()) return "";
  TextTable table({"MODEL", "QUEUED", "CLAIMED", "BACKLOG", "DEVICES"});
  for (const v1::FleetModel& model : fleet.models()) {
    table.AddRow({model.name(), absl::StrCat(model.queued()), absl::StrCat(model.claimed()),
                  HumanDuration(FromProto(model.backlog())), absl::StrCat(model.ready_devices())});
  }
  return absl::StrCat("\n", table.Render());
}

std::string LogState(const v1::FleetLog& log) {
  if (!log.connected()) return "no broker is connected: nothing is admitted";
  if (!log.answers()) return "no leader answers (no quorum?): nothing is admitted";
  if (!log.ready()) return "is being read";
  if (log.behind_messages() == 0) return absl::StrCat("read to its end, ", log.position());
  return absl::StrCat(log.behind_messages(), " messages behind, for ",
                      HumanDuration(FromProto(log.behind())));
}

std::string Voids(const v1::FleetLog& log) {
  const std::map<std::string, int64_t> sorted(log.void_messages().begin(),
                                              log.void_messages().end());
  if (sorted.empty()) return "none";
  return absl::StrJoin(sorted, ", ", [](std::string* out, const auto& entry) {
    absl::StrAppend(out, entry.second, " ", entry.first);
  });
}

std::string Uploads(const v1::FleetUploads& uploads) {
  return absl::StrCat(uploads.store_works() ? "works" : "does not work", "; ", uploads.waiting(),
                      " of at most ", uploads.limit(), " results wait (",
                      HumanBytes(uploads.waiting_bytes()), "), ", uploads.failed_tries(),
                      " tries failed");
}

std::string Own(const v1::GetFleetResponse& fleet) {
  const v1::FleetLog& log = fleet.log();
  TextTable facts({"log", LogState(log)});
  facts.AddRow({"brokers", log.broker_versions().empty()
                               ? "unknown"
                               : absl::StrJoin(log.broker_versions(), ", ")});
  facts.AddRow({"void messages", Voids(log)});
  if (fleet.has_uploads()) facts.AddRow({"store", Uploads(fleet.uploads())});
  const v1::FleetClaims& claims = fleet.claims();
  facts.AddRow({"claims", absl::StrCat(claims.won(), " won, ", claims.lost(), " lost, ",
                                       claims.takeovers(), " taken over, ", claims.superseded(),
                                       " taken away, ", claims.released(), " given back")});
  return absl::StrCat("\nAs ", fleet.node(), " sees it\n", facts.Render());
}

// More than one build is right only during an update.
std::string Builds(const v1::GetFleetResponse& fleet) {
  std::set<std::string> builds;
  for (const v1::FleetNode& node : fleet.nodes()) {
    const bool lives = node.state() == v1::FLEET_NODE_STATE_SERVING ||
                       node.state() == v1::FLEET_NODE_STATE_DRAINING;
    if (lives) builds.insert(node.build());
  }
  if (builds.size() < 2) return "";
  return absl::StrCat("\n", builds.size(),
                      " builds are in the fleet: finish the update, or take one back.\n");
}

}  // namespace

std::string DescribeFleet(const v1::GetFleetResponse& fleet) {
  if (fleet.name().empty()) {
    return "This server is alone: its configuration has no block `fleet`.\n";
  }
  const auto serving = std::count_if(
      fleet.nodes().begin(), fleet.nodes().end(),
      [](const v1::FleetNode& node) { return node.state() == v1::FLEET_NODE_STATE_SERVING; });
  return absl::StrCat(fleet.name(), "  ", serving, " of ", fleet.nodes_size(),
                      " servers serve (* answers this)\n\n", Nodes(fleet), Backlog(fleet),
                      Own(fleet), Builds(fleet));
}

}  // namespace reel::client
