// SPDX-License-Identifier: Apache-2.0
// Note: [Copies in one process]
// The ranks of a group are devices of one process, so a tensor goes from one to the other by
// libtorch's own copy: it is asked for on the current stream of the device that it comes from,
// behind what made it, and the other device goes on behind it. No host waits, there is nothing to
// set up, and between neighbours on NVLink it is a copy from peer to peer. A library of collectives
// (NCCL comes with libtorch) would bring reductions and rings, of which rows, halos and the keys of
// other ranks' tokens need none, and a second way to hang. For the same reason there is one form
// for CPUs and GPUs: what tests run on CPUs is what GPUs run.
#include "model/bridge/rank_crew.h"

#include <pthread.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/bridge/torch_device.h"
#include "model/bridge/torch_guard.h"

namespace reel::model {
namespace {

// What a rank says that stopped because another did; never what comes out of Run.
class AnotherFailed : public std::exception {
 public:
  const char* what() const noexcept override { return "another rank of the group has failed"; }
};

}  // namespace

RankCrew::RankCrew(std::vector<at::Device> devices)
    : devices_(std::move(devices)),
      given_(devices_.size(), std::vector<std::deque<at::Tensor>>(devices_.size())) {
  members_.resize(devices_.size() - 1);
  for (int rank = 1; rank < size(); ++rank) {
    members_[static_cast<size_t>(rank) - 1].thread = std::thread([this, rank] { Serve(rank); });
  }
}

RankCrew::~RankCrew() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
    changed_.NotifyAll();
  }
  for (Member& member : members_) member.thread.join();
}

void RankCrew::GiveUp() {
  MutexLock lock(mutex_);
  given_up_ = true;
  changed_.NotifyAll();
}

std::exception_ptr RankCrew::Do(int rank, const std::function<void(int rank)>& work) {
  try {
    const ModelScope scope(device(rank));
    work(rank);
    return nullptr;
  } catch (const AnotherFailed&) {
    return nullptr;
  } catch (...) {
    GiveUp();
    return std::current_exception();
  }
}

void RankCrew::Serve(int rank) {
  // For whoever looks at the process's threads.
  pthread_setname_np(pthread_self(), absl::StrCat("rank ", rank).c_str());
  for (int done = 0;;) {
    const std::function<void(int rank)>* work = nullptr;
    {
      MutexLock lock(mutex_);
      while (turn_ == done && !closed_) changed_.Wait(mutex_);
      if (turn_ == done) return;
      done = turn_;
      work = work_;
    }
    std::exception_ptr error = Do(rank, *work);
    MutexLock lock(mutex_);
    Member& member = members_[static_cast<size_t>(rank) - 1];
    member.error = std::move(error);
    member.turn = done;
    changed_.NotifyAll();
  }
}

void RankCrew::Run(const std::function<void(int rank)>& work) {
  {
    MutexLock lock(mutex_);
    work_ = &work;
    given_up_ = false;
    for (auto& of_rank : given_) {
      for (auto& given : of_rank) given.clear();
    }
    ++turn_;
    changed_.NotifyAll();
  }
  std::exception_ptr error = Do(0, work);
  {
    MutexLock lock(mutex_);
    for (Member& member : members_) {
      while (member.turn != turn_) changed_.Wait(mutex_);
      if (error == nullptr) error = member.error;
      member.error = nullptr;
    }
    work_ = nullptr;
  }
  if (error != nullptr) std::rethrow_exception(error);
}

void RankCrew::Give(int rank, int to, const at::Tensor& mine) {
  MutexLock lock(mutex_);
  given_[static_cast<size_t>(rank)][static_cast<size_t>(to)].push_back(mine);
  changed_.NotifyAll();
}

at::Tensor RankCrew::Await(int rank, int from) {
  MutexLock lock(mutex_);
  std::deque<at::Tensor>& given = given_[static_cast<size_t>(from)][static_cast<size_t>(rank)];
  while (given.empty() && !given_up_) changed_.Wait(mutex_);
  if (given.empty()) throw AnotherFailed();
  at::Tensor theirs = std::move(given.front());
  given.pop_front();
  return theirs;
}

at::Tensor RankCrew::Take(int rank, int from) {
  return Await(rank, from).to(device(rank), /*non_blocking=*/true);
}

void RankCrew::TakeInto(int rank, int from, const at::Tensor& place) {
  place.copy_(Await(rank, from), /*non_blocking=*/true);
}

}  // namespace reel::model
