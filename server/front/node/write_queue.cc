// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/write_queue.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace reel::front {
namespace {

// A write without an answer makes way for the others.
constexpr absl::Duration kOneTry = absl::Milliseconds(200);
constexpr absl::Duration kBetweenRounds = absl::Milliseconds(50);

}  // namespace

WriteQueue::WriteQueue(LogPort& port, std::string writer)
    : port_(port),
      posts_at_once_(port.PostsAtOnce()),
      writer_(std::move(writer)),
      thread_([this] { Run(); }) {}

WriteQueue::~WriteQueue() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
  const MutexLock lock(mutex_);
  while (under_way_ > 0) changed_.Wait(mutex_);
}

void WriteQueue::Put(const LogSubject& subject, std::string payload, absl::Duration patience,
                     Done done) {
  std::vector<LogMessage> one;
  one.push_back({subject, std::move(payload)});
  PutTogether(std::move(one), patience, std::move(done));
}

void WriteQueue::PutTogether(std::vector<LogMessage> messages, absl::Duration patience, Done done) {
  std::vector<LogWrite> writes;
  for (LogMessage& message : messages) {
    absl::StatusOr<std::string> name = MakeSubject(message.subject);
    if (!name.ok()) return done(name.status());
    writes.push_back({*std::move(name), std::move(message.payload), ""});
  }
  Item item{std::move(writes.front()), absl::Now() + patience, std::move(done)};
  item.write.also.assign(std::make_move_iterator(writes.begin() + 1),
                         std::make_move_iterator(writes.end()));
  {
    const MutexLock lock(mutex_);
    if (stopping_) return;
    item.write.message_id = NextId();
    for (LogWrite& also : item.write.also) also.message_id = NextId();
    ++size_;
    if (!posts_at_once_) {
      items_.push_back(std::move(item));
      changed_.NotifyAll();
      return;
    }
    ++under_way_;
  }
  Try(std::move(item));
}

std::string WriteQueue::NextId() { return absl::StrCat(writer_, ".", ++written_); }

size_t WriteQueue::size() {
  const MutexLock lock(mutex_);
  return size_;
}

void WriteQueue::WaitForTries() {
  const MutexLock lock(mutex_);
  const uint64_t all = written_;
  const auto tried = [&] { return posts_at_once_ ? under_way_ == 0 : tried_ >= all; };
  while (!tried() && !stopping_) changed_.Wait(mutex_);
}

void WriteQueue::Run() {
  uint64_t tried = 0;
  for (;;) {
    std::vector<Item> items;
    {
      const MutexLock lock(mutex_);
      tried_ = tried;
      items.swap(left_);
      changed_.NotifyAll();
      if (!items.empty() && items_.empty() && !stopping_) changed_.WaitFor(mutex_, kBetweenRounds);
      while (items.empty() && items_.empty() && left_.empty() && !stopping_) {
        changed_.Wait(mutex_);
      }
      if (stopping_) return;
      for (Item& item : items_) items.push_back(std::move(item));
      items_.clear();
      tried = written_;
    }
    TryAll(std::move(items));
  }
}

// Writes a round at once, for logs that commit several writes together.
void WriteQueue::TryAll(std::vector<Item> items) {
  for (Item& item : items) {
    {
      const MutexLock lock(mutex_);
      if (stopping_) break;
      ++under_way_;
    }
    Try(std::move(item));
  }
  const MutexLock lock(mutex_);
  while (under_way_ > 0 && !posts_at_once_) changed_.Wait(mutex_);
}

void WriteQueue::Try(Item item) {
  const absl::Duration patience = std::min(item.end - absl::Now(), kOneTry);
  LogWrite write = item.write;
  port_.Post(std::move(write), patience,
             [this, item = std::move(item)](absl::StatusOr<WriteResult> result) mutable {
               Settle(std::move(item), std::move(result));
             });
}

void WriteQueue::Settle(Item item, absl::StatusOr<WriteResult> result) {
  const bool is_unknown = result.ok() && result->outcome == WriteResult::Outcome::kUnknown;
  if (is_unknown) item.write.repeated = true;
  // Other errors are permanent: nobody can write or read the message.
  const bool may_come =
      absl::IsUnavailable(result.status()) || absl::IsResourceExhausted(result.status());
  const bool again =
      (is_unknown && absl::Now() < item.end) || (may_come && item.end == absl::InfiniteFuture());
  if (!again) {
    Count(result);
    item.done(std::move(result));
  }
  const MutexLock lock(mutex_);
  if (again) {
    left_.push_back(std::move(item));
  } else {
    --size_;
  }
  --under_way_;
  changed_.NotifyAll();
}

void WriteQueue::Count(const absl::StatusOr<WriteResult>& result) {
  const MutexLock lock(mutex_);
  if (!result.ok()) {
    ++counts_.refused;
    return;
  }
  switch (result->outcome) {
    case WriteResult::Outcome::kWon:
      ++counts_.won;
      return;
    case WriteResult::Outcome::kLost:
      ++counts_.lost;
      return;
    case WriteResult::Outcome::kUnknown:
      ++counts_.unknown;
      return;
  }
}

WriteQueue::Counts WriteQueue::counts() {
  const MutexLock lock(mutex_);
  return counts_;
}

}  // namespace reel::front
