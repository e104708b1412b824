// SPDX-License-Identifier: Apache-2.0
// Records a network's calls as graphs of the device, and replays them for calls of the same kind.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/bridge/device_graph.h"
#include "model/bridge/ops.h"
#include "model/bridge/torch_guard.h"

namespace reel::model {

// A family's call, as a cache takes it. Borrows its inputs; Copy owns them.
//   struct Kind;                            calls of equal kinds share a graph; has ==
//   Kind kind() const;
//   bool may_come_again() const;            false: such calls are never recorded
//   bool may_be_recorded() const;           false: this call is not recorded; a later one may be
//   int64_t input_bytes() const;            of a Copy
//   int64_t work_bytes() const;             peak memory between inputs and outputs
//   std::vector<at::Tensor> Compute(const Ops&) const;
//   class Copy { explicit Copy(const Call&); void Fill(const Call&); Call call() const; };
//
// Confined to the engine thread. A kind is recorded at its second call: libraries initialise
// themselves in the first. Each graph owns its inputs; all graphs share their working memory. The
// most recently used graphs are kept, up to `most_bytes`. Timed calls and those of more than
// kMostBytes are not recorded.
template <typename Call>
class GraphCache {
 public:
  static constexpr int64_t kMostBytes = int64_t{1} << 30;  // of a call, and of all by default
  using Outputs = std::vector<at::Tensor>;

  // Without a recorder nothing is recorded.
  explicit GraphCache(std::unique_ptr<GraphRecorder> recorder, int64_t most_bytes = kMostBytes)
      : recorder_(std::move(recorder)), most_bytes_(most_bytes) {}

  // Bytes of the inputs that the graphs own.
  int64_t kept_bytes() const {
    int64_t bytes = 0;
    for (const Entry& entry : entries_) {
      if (entry.graph != nullptr) bytes += entry.input_bytes;
    }
    return bytes;
  }
  // Drops all graphs; they are recorded again when needed.
  void Forget() { entries_.clear(); }

  // The next call of any kind overwrites the results.
  Outputs operator()(const Ops& ops, const Call& call) {
    if (recorder_ == nullptr || ops.run().timer != nullptr || !call.may_come_again() ||
        call.input_bytes() + call.work_bytes() > std::min(most_bytes_, kMostBytes)) {
      return call.Compute(ops);
    }
    Entry* const entry = Find({ops.run().plan.name(), call.kind()});
    if (entry == nullptr || entry->refused || !call.may_be_recorded()) return call.Compute(ops);
    if (entry->graph != nullptr) {
      entry->copy->Fill(call);
    } else if (!Record(ops, call, *entry)) {
      return call.Compute(ops);
    }
    entry->graph->Replay();
    for (const kernels::VariantUse& use : entry->uses) {
      ops.run().counters.Count(use.op, use.variant, use.calls);
    }
    return entry->outputs;
  }

 private:
  static constexpr size_t kMostKinds = 64;  // with or without a graph

  struct Key {
    std::string plan;
    typename Call::Kind kind;
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    std::unique_ptr<DeviceGraph> graph;  // null until the second call
    bool refused = false;                // recording failed; not tried again
    int64_t input_bytes = 0, work_bytes = 0;
    std::unique_ptr<typename Call::Copy> copy;
    Outputs outputs;
    kernels::KernelPlan how;
    kernels::KernelCounters counters;
    std::vector<kernels::VariantUse> uses;  // of one call
  };

  // Moves the entry of this kind to the front. Null if there was none; it is added.
  Entry* Find(Key key) {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& known) { return known.key == key; });
    if (found != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, found);
      return &entries_.front();
    }
    entries_.emplace_front().key = std::move(key);
    if (entries_.size() > kMostKinds) entries_.pop_back();
    return nullptr;
  }

  // Evicts the least recently used graphs until there is memory for the front one.
  void MakeRoom() {
    int64_t inputs = 0, work = 0;
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      const bool counts = entry == entries_.begin() || entry->graph != nullptr;
      const int64_t with_it = inputs + entry->input_bytes + std::max(work, entry->work_bytes);
      if (counts && with_it > most_bytes_ && entry != entries_.begin()) {
        entry = entries_.erase(entry);
        continue;
      }
      if (counts) {
        inputs += entry->input_bytes;
        work = std::max(work, entry->work_bytes);
      }
      ++entry;
    }
  }

  // False if recording failed; the call has not run.
  bool Record(const Ops& ops, const Call& call, Entry& entry) {
    entry.input_bytes = call.input_bytes();
    entry.work_bytes = call.work_bytes();
    MakeRoom();
    const absl::Status status = TorchGuard([&] {
      entry.copy = std::make_unique<typename Call::Copy>(call);
      entry.how = ops.run().plan;
      entry.graph = recorder_->Record([&entry](kernels::DeviceStream stream) {
        const kernels::Execution run{entry.how, entry.counters, nullptr, stream};
        entry.outputs = entry.copy->call().Compute(Ops(run));
      });
      return absl::OkStatus();
    });
    if (status.ok()) {
      entry.uses = entry.counters.Uses();
      return true;
    }
    Entry refused;
    refused.key = std::move(entry.key);
    refused.refused = true;
    entry = std::move(refused);
    // A lost device runs nothing. After other failures the caller runs the call unrecorded.
    if (status.code() == absl::StatusCode::kAborted) ThrowIfError(status);
    TORCH_WARN("A step cannot be recorded and is launched kernel by kernel, which may be slower: ",
               std::string(status.message()));
    return false;
  }

  std::unique_ptr<GraphRecorder> recorder_;
  const int64_t most_bytes_;
  std::list<Entry> entries_;  // latest first; entries do not move
};

}  // namespace reel::model
