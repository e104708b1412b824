// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/door_exchange.h"

#include <utility>

#include "absl/time/time.h"
#include "server/errors/error.h"
#include "server/front/http/door_error.h"

namespace reel::front {
namespace {

// A stream ends when its video does, which may be soon.
constexpr absl::Duration kTryAgain = absl::Seconds(5);

absl::Status Refuse(const std::string& tenant, int most) {
  return MakeOverQuota(Reason::kTenantQuota, "tenant:" + tenant,
                       "The tenant has too many open streams", {most, most}, kTryAgain);
}

}  // namespace

TenantStreams::TenantStreams(int most) : most_(most), open_(std::make_shared<Open>()) {}

absl::StatusOr<std::shared_ptr<const void>> TenantStreams::Take(const std::string& tenant) const {
  if (most_ == 0) return nullptr;
  {
    MutexLock lock(open_->mutex);
    int& count = open_->count[tenant];
    if (count >= most_) return Refuse(tenant, most_);
    ++count;
  }
  const auto leave = [open = open_, tenant](const void*) {
    MutexLock lock(open->mutex);
    const auto found = open->count.find(tenant);
    if (--found->second == 0) open->count.erase(found);
  };
  return std::shared_ptr<const void>(open_.get(), leave);
}

DoorExchange::DoorExchange(const DoorStreamParts& parts, std::function<void()> wake)
    : parts_(parts), wake_(std::move(wake)) {}

void DoorExchange::WakeLocked() {
  if (wake_) wake_();
}

void DoorExchange::Reply(DoorReply reply) {
  MutexLock lock(mutex_);
  if (answered_ || detached_) return;
  answered_ = true;
  SetReplyLocked(std::move(reply));
}

void DoorExchange::ReplyWith(std::function<DoorReply()> make) {
  MutexLock lock(mutex_);
  if (answered_ || detached_) return;
  answered_ = true;
  work_.emplace();
  work_->kind = DoorWork::Kind::kMake;
  work_->make = std::move(make);
  WakeLocked();
}

void DoorExchange::Made(DoorReply reply) {
  MutexLock lock(mutex_);
  if (!detached_) SetReplyLocked(std::move(reply));
}

void DoorExchange::SetReplyLocked(DoorReply reply) {
  work_.emplace();
  work_->kind = DoorWork::Kind::kReply;
  work_->reply = std::move(reply);
  WakeLocked();
}

void DoorExchange::Stream(std::unique_ptr<DoorBody> body, std::function<absl::Status()> allowed,
                          const std::function<void(std::weak_ptr<JobListener>)>& listen) {
  std::shared_ptr<StreamDriver> driver;
  {
    MutexLock lock(mutex_);
    if (answered_ || detached_) return;
    answered_ = true;
    video_ = body->video();
    body_ = std::move(body);
    allowed_ = std::move(allowed);
    driver = std::make_shared<StreamDriver>(static_cast<StreamCall&>(*this), parts_.pump,
                                            parts_.stall_limit);
    driver_ = driver;
  }
  parts_.observer.StreamOpened();
  parts_.pump.Watch(driver);
  listen(driver);
  driver->Start();
}

void DoorExchange::Hold(std::shared_ptr<const void> place) {
  MutexLock lock(mutex_);
  if (!detached_) place_ = std::move(place);
}

void DoorExchange::OnEnd(std::function<void(StreamEnd)> on_end) {
  {
    MutexLock lock(mutex_);
    if (!detached_) {
      on_end_ = std::move(on_end);
      return;
    }
  }
  on_end(StreamEnd::kCallerGone);
}

void DoorExchange::WaitAtMost(absl::Duration patience, absl::Status late) {
  MutexLock lock(mutex_);
  patience_ = patience;
  late_ = std::move(late);
  WakeLocked();
}

absl::Duration DoorExchange::patience(absl::Duration usual) const {
  MutexLock lock(mutex_);
  return patience_.value_or(usual);
}

StreamStep DoorExchange::Prepare(absl::Status& end) { return body_->Next(prepared_, end); }

void DoorExchange::StartWrite() {
  DoorWork work;
  work.kind = DoorWork::Kind::kPiece;
  work.bytes = std::move(prepared_);
  work.next_at_hand = body_->at_hand();
  if (!head_made_) {
    head_made_ = true;
    work.first = true;
    work.reply = body_->Head();
    work.length = body_->Length();
  }
  prepared_.clear();
  MutexLock lock(mutex_);
  work_ = std::move(work);
  WakeLocked();
}

void DoorExchange::Finish(const absl::Status& status) {
  DoorWork work;
  work.kind = DoorWork::Kind::kEnd;
  if (!status.ok() && !head_made_) {
    work.kind = DoorWork::Kind::kReply;
    work.reply = ErrorReply(status);
  } else if (!status.ok()) {
    const bool whole = ReasonOf(status) == Reason::kServerDraining && body_->whole_anywhere();
    if (!whole) return Abort();
  }
  MutexLock lock(mutex_);
  work_ = std::move(work);
  WakeLocked();
}

void DoorExchange::Abort() {
  MutexLock lock(mutex_);
  cut_ = true;
  WakeLocked();
}

DoorWork DoorExchange::Take() {
  MutexLock lock(mutex_);
  if (!work_) return {};
  return *std::exchange(work_, std::nullopt);
}

bool DoorExchange::cut() const {
  MutexLock lock(mutex_);
  return cut_;
}

std::shared_ptr<StreamDriver> DoorExchange::driver() const {
  MutexLock lock(mutex_);
  return driver_;
}

void DoorExchange::Written(bool ok) {
  if (const auto driver = this->driver()) driver->OnWriteDone(ok);
}

void DoorExchange::CallerGone() {
  if (const auto driver = this->driver()) driver->OnCancel();
}

void DoorExchange::Late() {
  const auto driver = this->driver();
  if (driver != nullptr) {
    const absl::Status why = body_->Late();
    return why.ok() ? driver->Wake() : driver->Fail(why);
  }
  absl::Status why = MakeError(Reason::kNoAnswer,
                               "The server had no answer within its time; what was asked may still "
                               "happen");
  {
    MutexLock lock(mutex_);
    if (!late_.ok()) why = late_;
  }
  Reply(ErrorReply(why));
}

void DoorExchange::Detach() {
  std::shared_ptr<StreamDriver> driver;
  std::function<void(StreamEnd)> on_end;
  std::optional<DoorWork> untaken;  // may hold what holds this
  std::shared_ptr<const void> place;
  {
    MutexLock lock(mutex_);
    if (std::exchange(detached_, true)) return;
    untaken.swap(work_);
    place.swap(place_);
    wake_ = nullptr;
    driver = driver_;
    on_end = std::move(on_end_);
  }
  StreamEnd end = StreamEnd::kCallerGone;
  if (driver != nullptr) {
    end = driver->Detach();
    parts_.observer.StreamClosed();
    if (end == StreamEnd::kSlowReader) parts_.observer.SlowReaderCut();
  }
  if (on_end) on_end(end);
}

bool DoorExchange::streams() const { return driver() != nullptr; }

std::string DoorExchange::video() const {
  MutexLock lock(mutex_);
  return video_;
}

void DoorExchange::SetVideo(const std::string& id) {
  MutexLock lock(mutex_);
  video_ = id;
}

}  // namespace reel::front
