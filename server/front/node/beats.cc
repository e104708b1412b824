// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/beats.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace reel::front {
namespace {

// The process that owns a name answers another's first heartbeat within two ticks.
constexpr absl::Duration kAnswer = absl::Milliseconds(300);

}  // namespace

void NameHold::Drop(absl::Duration now) {
  if (options_.alone) return;
  holds_ = false;
  // Waits two intervals: a known process gets no answer, only regular heartbeats.
  not_before_ = now + 2 * options_.beat;
}

void NameHold::Tick(absl::Duration now, const NodeTable& nodes, absl::Duration hears_since) {
  if (options_.alone) return;
  std::string why;
  for (const NodeTable::Namesake& other : nodes.Namesakes(options_.process)) {
    // Between equals the lower number wins, so that both sides decide alike.
    const bool wins = other.process < options_.process && other.holds_name == holds_;
    const bool is_first = (other.holds_name && !holds_) || wins;
    if (!is_first) continue;
    why = absl::StrCat("another process takes part in the fleet under this node's name, ",
                       options_.node, ", at ", other.address.empty() ? "-" : other.address);
  }
  stands_by_ = !why.empty();
  const bool is_answered = now - hears_since >= kAnswer && now >= not_before_;
  holds_ = !stands_by_ && (holds_ || is_answered);
  fitness_.Set(Unfit::kName, why);
}

namespace {

// A longer gap between two ticks means that this process was paused.
constexpr absl::Duration kLongestGap = absl::Seconds(1);
// Minimum interval of heartbeats with news.
constexpr absl::Duration kLeastBetween = absl::Milliseconds(100);
// Model descriptions are large and rarely change.
constexpr int64_t kBeatsPerCard = 10;
// Limit of different kernel lists for one model.
constexpr size_t kMostLists = 16;
// At this size the set of known processes is cleared, and descriptions are sent again.
constexpr size_t kMostProcesses = 4096;

}  // namespace

Beats::Beats(LogPort& port, Dispatcher& jobs, const VideoSerializer& serializer,
             const NodeOptions& options)
    : port_(port),
      jobs_(jobs),
      serializer_(serializer),
      options_(options),
      nodes_(options.node, options.silence, kLongestGap) {}

void Beats::Tick(absl::Duration now, const Own& own) {
  Hear(now);
  // A process that stands by sends no heartbeats and so cannot receive its own.
  if (!HearsItself(now)) hears_since_ = absl::InfiniteDuration();
  nodes_.Tick(now, port_.IsUp() && (own.stands_by || HearsItself(now)));
  std::map<std::string, std::shared_ptr<const NodeBeat>> alive = nodes_.Alive();
  if (processes_.size() > kMostProcesses) processes_.clear();
  // A new process knows no model descriptions yet, even under a known name.
  for (const auto& [name, beat] : alive) {
    const bool is_new = processes_.insert(beat->process).second;
    if (is_new || !alive_.contains(name)) count_ = 0;
  }
  alive_ = std::move(alive);
  TellKernels();
  const bool news = count_ == 0 || own.room != told_.room || own.draining != told_.draining ||
                    own.unfit != told_.unfit || own.holds_name != told_.holds_name;
  if (own.stands_by || now - sent_ < (news ? kLeastBetween : options_.beat)) return;
  sent_ = now;
  Send(own);
}

void Beats::Hear(absl::Duration now) {
  for (const std::string& bytes : port_.TakeBeats()) {
    std::optional<NodeBeat> beat = ReadBeat(bytes);
    if (!beat) continue;
    for (const NodeBeat::Model& model : beat->models) {
      if (model.card.empty() || !learned_.insert(model.name).second) continue;
      jobs_.LearnCard(model.card);
    }
    LearnKernels(*beat);
    if (beat->process == options_.process && beat->node == options_.node) {
      echoed_ = now;
      hears_since_ = std::min(hears_since_, now);
    }
    nodes_.Hear(*std::move(beat));
  }
}

// A cut connection is noticed seconds late. A node that counted others' silence meanwhile would
// take videos from live nodes.
bool Beats::HearsItself(absl::Duration now) const {
  return now - echoed_ <= std::max(options_.silence / 2, 2.5 * options_.beat);
}

void Beats::LearnKernels(const NodeBeat& beat) {
  if (beat.kernels.empty() || beat.node == options_.node) return;
  Lists& lists = kernels_[beat.node];
  lists.clear();
  for (const NodeBeat::Model& model : beat.models) {
    for (const int place : model.kernels) {
      if (place < 0 || place >= static_cast<int>(beat.kernels.size())) continue;
      lists[model.name].insert(beat.kernels[static_cast<size_t>(place)]);
    }
  }
}

void Beats::TellKernels() {
  std::erase_if(kernels_, [&](const auto& entry) { return !alive_.contains(entry.first); });
  Lists all;
  for (const auto& [node, lists] : kernels_) {
    for (const auto& [model, some] : lists) {
      for (const std::string& list : some) {
        if (all[model].size() < kMostLists) all[model].insert(list);
      }
    }
  }
  if (all == told_kernels_) return;
  told_kernels_ = std::move(all);
  std::map<std::string, std::vector<std::string>> told;
  for (const auto& [model, lists] : told_kernels_) {
    told[model].assign(lists.begin(), lists.end());
  }
  jobs_.SetKernelsElsewhere(std::move(told));
}

void Beats::Send(const Own& own) {
  told_ = own;
  NodeBeat beat;
  beat.node = options_.node;
  beat.address = options_.address;
  beat.build = options_.build;
  beat.process = options_.process;
  beat.position = own.position;
  beat.claimed = own.claimed;
  beat.room = own.room;
  beat.draining = own.draining;
  beat.unfit = own.unfit;
  beat.holds_name = own.holds_name;
  beat.prompt_keys = options_.seal.Ids();
  const bool with_cards = count_++ % kBeatsPerCard == 0;
  const Means means = MeansOf(jobs_);
  for (const ServedModel& model : jobs_.Models()) {
    if (!model.has_card) continue;
    const std::string& name = model.card.name;
    beat.models.push_back({name,
                           own.unfit.empty() && means.models.contains(name) ? means.in_groups : 0,
                           with_cards ? serializer_.SerializeCard(model.card) : ""});
  }
  if (with_cards) AddKernels(means, beat);
  port_.SendBeat(beat.node, WriteBeat(beat));
}

// Workers of the same kind share one list.
void Beats::AddKernels(const Means& means, NodeBeat& beat) const {
  for (const WorkerInfo& worker : means.workers) {
    if (worker.kernels.empty()) continue;
    std::string list = serializer_.SerializeKernels(worker.kernels);
    const auto known = std::find(beat.kernels.begin(), beat.kernels.end(), list);
    const int place = static_cast<int>(known - beat.kernels.begin());
    if (known == beat.kernels.end()) beat.kernels.push_back(std::move(list));
    for (NodeBeat::Model& model : beat.models) {
      const auto& own = worker.models;
      if (std::find(own.begin(), own.end(), model.name) == own.end()) continue;
      const auto& places = model.kernels;
      if (std::find(places.begin(), places.end(), place) != places.end()) continue;
      model.kernels.push_back(place);
    }
  }
}

std::set<std::string> Beats::NodesWith(const std::string& model) const {
  std::set<std::string> nodes;
  for (const auto& [name, beat] : alive_) {
    if (name == options_.node || beat->draining) continue;
    const bool has = std::any_of(beat->models.begin(), beat->models.end(),
                                 [&](const auto& one) { return one.name == model; });
    if (has) nodes.insert(name);
  }
  return nodes;
}

std::map<std::string, int> Beats::ServersOf(const std::string& model) const {
  std::map<std::string, int> servers;
  for (const auto& [name, beat] : alive_) {
    if (name == options_.node || !beat->claims()) continue;
    const bool has = std::any_of(
        beat->models.begin(), beat->models.end(),
        [&](const NodeBeat::Model& one) { return one.name == model && one.ready_devices > 0; });
    if (has) servers[name] = beat->room;
  }
  return servers;
}

std::set<std::string> Beats::ReadyModels() const {
  std::set<std::string> ready;
  for (const auto& [name, beat] : alive_) {
    if (!beat->claims()) continue;
    for (const NodeBeat::Model& model : beat->models) {
      if (model.ready_devices > 0) ready.insert(model.name);
    }
  }
  return ready;
}

bool Beats::KnowsModels(absl::Duration now) const {
  // In that time every other node sends at least one heartbeat, and descriptions to a newcomer
  // sooner.
  if (now - hears_since_ < 2 * options_.beat) return false;
  bool some = false;
  for (const auto& [name, beat] : alive_) {
    for (const NodeBeat::Model& model : beat->models) {
      if (!learned_.contains(model.name)) return false;
      some = true;
    }
  }
  return some;
}

bool Beats::IsServing(const std::string& node) const {
  const auto known = alive_.find(node);
  if (known != alive_.end()) return known->second->claims();
  return !nodes_.IsSilent(node);
}

bool Beats::IsFirst() const { return alive_.empty() || options_.node <= alive_.begin()->first; }

int Beats::NumDevices() const {
  int devices = 0;
  for (const auto& [name, beat] : alive_) {
    if (!beat->claims()) continue;
    int most = 0;
    for (const NodeBeat::Model& model : beat->models) most = std::max(most, model.ready_devices);
    devices += most;
  }
  return devices;
}

int Beats::NumServing() const {
  int serving = 1;
  for (const auto& [name, beat] : alive_) {
    serving += name != options_.node && beat->claims() ? 1 : 0;
  }
  return serving;
}

}  // namespace reel::front
