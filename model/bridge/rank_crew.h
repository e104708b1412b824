// SPDX-License-Identifier: Apache-2.0
// The devices of a group at work on one thing, in one process.
#pragma once

#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "kernels/base/mutex.h"
#include "model/bridge/aten.h"
#include "model/bridge/device_event.h"
#include "model/bridge/rank_link.h"

namespace reel::model {

// A rank is a member of the group, counted from 0. Each but the first has a thread of its own, so
// that all are asked for work at once; the first one's is the caller's. One rank is no group: then
// all of it is the caller's.
//
// Tensors go from rank to rank by libtorch's copies, which stand in the order of both devices and
// hold up nobody else: Note: [Copies in one process] in rank_crew.cc. Confined to one thread, but
// for what stands within Run.
class RankCrew {
 public:
  // `devices` of the ranks; the first is the caller's. Without a link they have Give and Take
  // alone.
  explicit RankCrew(std::vector<at::Device> devices, std::unique_ptr<RankLink> link = nullptr);
  // Waits for what ranks are at.
  ~RankCrew();
  RankCrew(const RankCrew&) = delete;
  RankCrew& operator=(const RankCrew&) = delete;

  int size() const { return static_cast<int>(devices_.size()); }
  at::Device device(int rank) const { return devices_[static_cast<size_t>(rank)]; }

  // Null: there is none.
  RankLink* link() const { return link_.get(); }

  // `work` of every rank at the same time, each under a ModelScope of its device; returns when all
  // have returned. Throws what the lowest rank threw on its own account; the others are then done
  // as well: Take does not leave them waiting.
  void Run(const std::function<void(int rank)>& work);

  // Within Run, from rank to rank. Give does not wait, and its caller no longer writes to the
  // tensor. Take waits until the tensor is given, in the order of the giver.
  void Give(int rank, int to, const at::Tensor& mine);
  // On this rank's device.
  at::Tensor Take(int rank, int from);
  // Into `place`, of the same sizes.
  void TakeInto(int rank, int from, const at::Tensor& place);

 private:
  struct Member {
    std::thread thread;
    int turn = 0;  // of the work that it has done
    std::exception_ptr error;
  };

  void Serve(int rank);
  // Its error, or null.
  std::exception_ptr Do(int rank, const std::function<void(int rank)>& work);
  void GiveUp();
  // A tensor, and the event behind what makes it; none on a CPU.
  struct Given {
    at::Tensor x;
    std::optional<c10::Event> made;
  };
  Given Await(int rank, int from);
  void Copy(int rank, int from, const Given& given, const at::Tensor& place);

  const std::vector<at::Device> devices_;
  const std::unique_ptr<RankLink> link_;
  Mutex mutex_;
  CondVar changed_;
  int turn_ ABSL_GUARDED_BY(mutex_) = 0;  // of the latest work
  const std::function<void(int rank)>* work_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool given_up_ ABSL_GUARDED_BY(mutex_) = false;  // a rank of this turn, or the last, has failed
  // By giver and taker.
  std::vector<std::vector<std::deque<Given>>> given_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::vector<c10::Stream>>
      beside_;                   // by giver, on its device, and taker; none on CPUs
  std::vector<Member> members_;  // of ranks from 1 on; turn and error are guarded by mutex_
};

}  // namespace reel::model
