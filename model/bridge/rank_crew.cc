// SPDX-License-Identifier: Apache-2.0
// Note: [Copies in one process]
// The ranks of a group are devices of one process, so libtorch's own copy moves a tensor between
// them. The copy is queued on the current stream of its source device, behind what made the tensor,
// and the other device continues behind it. No host waits, there is nothing to set up, and between
// neighbours on NVLink it is a copy from peer to peer. A library of collectives (NCCL comes with
// libtorch) would bring reductions and rings, which rows, halos and other ranks' keys do not need,
// and a second way to hang. Tests on CPUs run what GPUs run, except for the exchange in each block
// of a step. Hosts are too slow for that, so devices that reach each other's memory write to it by
// a kernel (RankLink).
#include "model/bridge/rank_crew.h"

#include <ATen/Parallel.h>
#include <c10/core/StreamGuard.h>
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

RankCrew::RankCrew(std::vector<at::Device> devices, std::unique_ptr<RankLink> link)
    : devices_(std::move(devices)), link_(std::move(link)), given_(devices_.size()) {
  for (auto& of_rank : given_) of_rank.resize(devices_.size());
  for (const at::Device own : devices_) {
    if (own.is_cpu()) break;
    const c10::impl::VirtualGuardImpl streams(own.type());
    std::vector<c10::Stream>& to = beside_.emplace_back();
    for (int rank = 0; rank < size(); ++rank) to.push_back(streams.getStreamFromGlobalPool(own));
  }
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
  if (link_ != nullptr) link_->GiveUp();
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
  at::init_num_threads();  // as many as elsewhere: on some processors MKL's bits depend on it
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
    if (given_up_ && link_ != nullptr) link_->Renew();
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
  Given given{mine, AskedSoFar(mine.device())};
  MutexLock lock(mutex_);
  given_[static_cast<size_t>(rank)][static_cast<size_t>(to)].push_back(std::move(given));
  changed_.NotifyAll();
}

RankCrew::Given RankCrew::Await(int rank, int from) {
  MutexLock lock(mutex_);
  std::deque<Given>& given = given_[static_cast<size_t>(from)][static_cast<size_t>(rank)];
  while (given.empty() && !given_up_) changed_.Wait(mutex_);
  if (given.empty()) throw AnotherFailed();
  Given theirs = std::move(given.front());
  given.pop_front();
  return theirs;
}

// Copies on a stream of their own beside the giver's. On the current stream of its source device, a
// copy would make the giver wait for this rank: a decode of 768x512x49 took 30 ms instead of 22
// (four H100). The giver must not overwrite the tensor before the copy is made.
void RankCrew::Copy(int rank, int from, const Given& given, const at::Tensor& place) {
  if (!given.made) {
    place.copy_(given.x);
    return;
  }
  const c10::Stream beside = beside_[static_cast<size_t>(from)][static_cast<size_t>(rank)];
  given.made->block(beside);
  given.x.record_stream(beside);
  const c10::StreamGuard current(beside);
  place.copy_(given.x, /*non_blocking=*/true);
}

at::Tensor RankCrew::Take(int rank, int from) {
  const Given theirs = Await(rank, from);
  if (!theirs.made) return theirs.x.to(device(rank));
  at::Tensor place = at::empty_like(theirs.x, theirs.x.options().device(device(rank)));
  Copy(rank, from, theirs, place);
  return place;
}

void RankCrew::TakeInto(int rank, int from, const at::Tensor& place) {
  Copy(rank, from, Await(rank, from), place);
}

}  // namespace reel::model
