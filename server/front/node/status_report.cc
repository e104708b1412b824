// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/status_report.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "server/front/fleet/subjects.h"
#include "server/front/node/fleet_clock.h"

namespace reel::front {
namespace {

FleetStatus::NodeState StateOf(const NodeTable::Seen& seen) {
  using StateOfNode = FleetStatus::NodeState;
  if (seen.silent) return seen.beat.draining ? StateOfNode::kLeft : StateOfNode::kSilent;
  return seen.beat.draining ? StateOfNode::kDraining : StateOfNode::kServing;
}

}  // namespace

void StatusReport::Tick(absl::Duration now) {
  now_ = now;
  position_ = ports_.view.position();
  newest_ =
      std::max({position_, ports_.port.Health().newest, state_.beats.nodes().newest_position()});
  // A higher goal came from a node of another log, or the log was replaced.
  goal_ = std::min(goal_, newest_);
  if (position_ < goal_) return;
  goal_ = newest_;
  since_ = now;
}

FleetStatus StatusReport::Make() const {
  FleetStatus status;
  AddLog(status);
  AddNodes(status);
  AddBacklog(status);
  AddOwn(status);
  return status;
}

void StatusReport::AddLog(FleetStatus& status) const {
  const LogHealth health = ports_.port.Health();
  FleetStatus::Log& log = status.log;
  log.connected = health.connected;
  log.answers = health.answers;
  log.ready = ports_.view.ready();
  log.position = position_;
  log.newest = newest_;
  if (position_ < goal_) log.behind = now_ - since_;
  log.holes = health.holes;
  log.rebuilds = health.rebuilds;
  log.versions = health.versions;
  for (const auto& [verdict, count] : ports_.view.voids()) log.voids[NameOf(verdict)] = count;
  const WriteQueue::Counts counts = ports_.writes.counts();
  log.won = counts.won;
  log.lost = counts.lost;
  log.unknown = counts.unknown;
  log.refused = counts.refused;
  log.writing = ports_.writes.size();
}

void StatusReport::AddNodes(FleetStatus& status) const {
  for (const auto& [name, seen] : state_.beats.nodes().All()) {
    const NodeBeat& beat = seen.beat;
    FleetStatus::Node node;
    node.name = name;
    node.address = beat.address;
    node.build = beat.build;
    node.state = StateOf(seen);
    node.is_this = name == state_.options.node;
    node.since_beat = seen.since;
    node.behind = newest_ - std::min(newest_, beat.position);
    node.claimed = beat.claimed;
    node.room = beat.room;
    node.unfit = beat.unfit;
    node.prompt_keys = beat.prompt_keys;
    const bool serves = node.state == FleetStatus::NodeState::kServing;
    for (const NodeBeat::Model& model : beat.models) {
      node.models.push_back({model.name, model.ready_devices});
      node.devices = std::max(node.devices, model.ready_devices);
      if (serves) status.backlog[model.name].ready_devices += model.ready_devices;
    }
    status.nodes.push_back(std::move(node));
  }
}

void StatusReport::AddBacklog(FleetStatus& status) const {
  for (const auto& [model, load] : state_.index.backlog().models()) {
    FleetStatus::Backlog& backlog = status.backlog[model];
    backlog.queued = load.queued;
    backlog.claimed = load.claimed;
    backlog.seconds = load.seconds();
  }
}

void StatusReport::AddOwn(FleetStatus& status) const {
  status.unfit = fitness_.All();
  status.clock = {ports_.clock.Skew(), state_.options.max_clock_skew};
  const Claimer::Counts& claims = claimer_.counts();
  const Holdings::Counts& held = holdings_.counts();
  status.claims = {claims.won, claims.lost, claims.takeovers, held.superseded, held.releases};
  const Deliveries::Counts& counts = deliveries_.counts();
  status.uploads = {deliveries_.enabled(), deliveries_.store_is_good(),
                    counts.waiting,        state_.options.deliver_backlog,
                    counts.waiting_bytes,  counts.stored,
                    counts.given_up,       counts.failed_tries};
}

namespace {

constexpr char kProbe[] = "reel doctor";
// Stores refuse signatures that are 15 minutes off, and videos' end times use this clock.
constexpr absl::Duration kMostSkew = absl::Seconds(30);

std::string HintFor(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kPermissionDenied:
      return "The key in fleet.objects.credentials_file must be right, and may get, put, list and "
             "delete in the bucket; a clock that is far off is refused as well.";
    case absl::StatusCode::kFailedPrecondition:
      return "Make the bucket, or correct fleet.objects.bucket.";
    case absl::StatusCode::kResourceExhausted:
      return "Make room in the store: results wait until it has some.";
    default:
      return "Is the store up, and fleet.objects.endpoint its address?";
  }
}

FleetCheck Failed(const char* what, const absl::Status& status) {
  return {"fleet store", false, absl::StrCat("cannot ", what, ": ", status.message()),
          HintFor(status)};
}

FleetCheck CheckClock(absl::Time stored, absl::Time begun, absl::Time ended) {
  // Stores round times down to a second.
  const absl::Duration ahead =
      std::max({stored - ended, begun - absl::Seconds(1) - stored, absl::ZeroDuration()});
  const bool is_close = ahead <= kMostSkew;
  return {"fleet clock", is_close,
          is_close ? "the store's is this machine's"
                   : absl::StrCat("the store's is ", absl::FormatDuration(ahead), " off"),
          is_close ? "" : "Set both by NTP: the store refuses requests whose clock is far off."};
}

FleetCheck CheckSkew(const FleetStatus::Clock& clock) {
  constexpr char kName[] = "fleet time";
  if (!clock.skew) {
    return {kName, true, "the brokers tell no time; videos go by this server's clock", ""};
  }
  const bool is_close = absl::AbsDuration(*clock.skew) <= clock.limit;
  std::string detail = absl::StrCat(SkewText(*clock.skew, absl::Milliseconds(1)), "; at most ",
                                    absl::FormatDuration(clock.limit), " is allowed");
  return {
      kName, is_close, std::move(detail),
      is_close ? "" : "Set this server's clock by NTP, or the brokers' where all servers say so."};
}

bool HasKey(const FleetStatus::Node& node, const std::string& key) {
  return std::find(node.prompt_keys.begin(), node.prompt_keys.end(), key) != node.prompt_keys.end();
}

// Empty if both nodes can read what the other writes and both encrypt.
std::string WhyApart(const FleetStatus::Node& own, const FleetStatus::Node& other) {
  const bool own_encrypts = !own.prompt_keys.empty();
  const bool other_encrypts = !other.prompt_keys.empty();
  if (own_encrypts && !other_encrypts) return absl::StrCat(other.name, " does not encrypt");
  if (!own_encrypts && other_encrypts) {
    return absl::StrCat(other.name, " encrypts, this server does not");
  }
  if (!own_encrypts) return "";
  if (!HasKey(own, other.prompt_keys[0])) {
    return absl::StrCat(other.name, " encrypts with ", other.prompt_keys[0],
                        ", which this server lacks");
  }
  if (!HasKey(other, own.prompt_keys[0])) return absl::StrCat(other.name, " lacks this key");
  return "";
}

FleetCheck CheckPrompts(const FleetStatus& status) {
  using StateOfNode = FleetStatus::NodeState;
  FleetStatus::Node own;
  for (const FleetStatus::Node& node : status.nodes) {
    if (node.is_this) own = node;
  }
  std::vector<std::string> apart;
  for (const FleetStatus::Node& node : status.nodes) {
    if (node.is_this ||
        (node.state != StateOfNode::kServing && node.state != StateOfNode::kDraining))
      continue;
    const std::string why = WhyApart(own, node);
    if (!why.empty()) apart.push_back(why);
  }
  std::string detail = own.prompt_keys.empty()
                           ? "in the clear in the log and the store"
                           : absl::StrCat("encrypted with the key ", own.prompt_keys[0]);
  if (apart.empty()) return {"fleet prompts", true, std::move(detail), ""};
  return {"fleet prompts", false, absl::StrCat(detail, "; ", absl::StrJoin(apart, ", ")),
          "Give every server the same keys in fleet.encrypt_prompts_key_file: what one cannot read "
          "it neither shows nor renders."};
}

}  // namespace

std::vector<FleetCheck> CheckStore(ObjectStore& store, const std::string& key) {
  const absl::Time begun = absl::Now();
  if (absl::Status put = store.PutBytes(key, kProbe, "text/plain"); !put.ok()) {
    return {Failed("put an object", put)};
  }
  const absl::Time ended = absl::Now();
  std::vector<FleetCheck> checks;
  const auto got = store.Get(key, 0, sizeof kProbe);
  const auto page = store.List(key.substr(0, key.size() - 1), "");
  const absl::Status deleted = store.Delete(key);
  if (!got.ok()) {
    checks.push_back(Failed("get an object", got.status()));
  } else if (*got != kProbe) {
    checks.push_back({"fleet store", false, "an object came back with other bytes than were put",
                      "Look for whatever stands between this server and the store."});
  }
  if (!page.ok()) checks.push_back(Failed("list objects", page.status()));
  if (!deleted.ok()) checks.push_back(Failed("delete an object", deleted));
  if (checks.empty()) {
    const absl::Duration took = ended - begun;
    checks.push_back({"fleet store", true,
                      absl::StrCat("put, got, listed and deleted an object; put in ",
                                   absl::ToInt64Milliseconds(took), " ms"),
                      ""});
  }
  if (!page.ok()) return checks;
  for (const ObjectEntry& entry : page->objects) {
    if (entry.key == key) checks.push_back(CheckClock(entry.changed, begun, ended));
  }
  return checks;
}

std::vector<FleetCheck> CheckNodes(const FleetStatus& status) {
  using StateOfNode = FleetStatus::NodeState;
  const LogNames names(status.fleet);
  std::vector<std::string> silent, unfit;
  std::set<std::string> builds;
  int living = 0;
  bool hears_itself = false;
  for (const FleetStatus::Node& node : status.nodes) {
    hears_itself |= node.is_this;
    if (node.state == StateOfNode::kSilent) silent.push_back(node.name);
    if (node.state != StateOfNode::kServing && node.state != StateOfNode::kDraining) continue;
    ++living;
    if (!node.unfit.empty()) unfit.push_back(absl::StrCat(node.name, ": ", node.unfit));
    builds.insert(node.build);
  }
  std::vector<FleetCheck> checks;
  if (!hears_itself) {
    checks.push_back({"fleet servers", false, "this server does not hear its own signs of life",
                      absl::StrCat("Allow its key to publish to ", names.At("hb." + status.node),
                                   " and to subscribe to ", names.Beats(), ".")});
  } else {
    checks.push_back({"fleet servers", silent.empty(),
                      absl::StrCat(living, " heard",
                                   silent.empty() ? "" : "; silent: ", absl::StrJoin(silent, ", ")),
                      silent.empty() ? "" : "Others take their videos over; see to them."});
  }
  checks.push_back({"fleet claims", unfit.empty(),
                    unfit.empty() ? "every server claims" : absl::StrJoin(unfit, "; "),
                    unfit.empty() ? "" : "Others render meanwhile; see to the cause."});
  checks.push_back(CheckSkew(status.clock));
  const bool is_one = builds.size() < 2;
  checks.push_back({"fleet builds", is_one, absl::StrJoin(builds, "; "),
                    is_one ? "" : "Finish the update: builds of one fleet must agree."});
  const bool is_close = status.log.behind < absl::Seconds(10);
  checks.push_back(
      {"fleet view", status.log.ready && is_close,
       absl::StrCat("message ", status.log.position, ", ", status.log.newest - status.log.position,
                    " behind"),
       absl::StrCat("It reads the log to its end in seconds; may its key subscribe to ",
                    names.Live(), ".>, and publish to $JS.API.CONSUMER.CREATE?")});
  if (checks.back().ok) checks.back().hint.clear();
  if (hears_itself) checks.push_back(CheckPrompts(status));
  return checks;
}

}  // namespace reel::front
