// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/embedded_log.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "kernels/base/status_macros.h"
#include "server/front/fleet/view_tables.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

using Outcome = WriteResult::Outcome;

constexpr size_t kMostTogether = 256;
constexpr int kMostTrimmed = 5000;  // per transaction
constexpr size_t kMostBeats = 16;   // that nobody takes

// Adds all messages of the write behind `messages`, or none.
absl::StatusOr<WriteResult> StoreOne(Database& db, const LogWrite& write, uint64_t position,
                                     absl::Time now, FleetView::Messages& messages) {
  std::vector<const LogWrite*> all = {&write};
  for (const LogWrite& also : write.also) all.push_back(&also);
  uint64_t stored = 0;  // sequence of the last message that is there already with the same content
  for (const LogWrite* const one : all) {
    REEL_ASSIGN_OR_RETURN(const std::optional<log_table::Known> known,
                          log_table::Find(db, one->subject));
    if (!known) continue;
    if (known->message_id != one->message_id) return WriteResult{Outcome::kLost, 0};
    stored = known->sequence;
  }
  if (stored != 0) return WriteResult{Outcome::kWon, stored};
  for (const LogWrite* const one : all) {
    messages.push_back(
        {position + messages.size() + 1, one->subject, one->message_id, one->payload});
    REEL_RETURN_IF_ERROR(log_table::Insert(db, messages.back(), now));
  }
  return WriteResult{Outcome::kWon, messages.back().sequence};
}

int64_t CreatedOf(FleetView& view) {
  const int64_t created = view.Start().created;
  return created != 0 ? created : absl::ToUnixNanos(absl::Now());
}

absl::Status Refusal(const absl::Status& status) {
  if (absl::IsResourceExhausted(status)) return status;
  return absl::UnavailableError(absl::StrCat("the log cannot be written: ", status.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<EmbeddedLog>> EmbeddedLog::Open(FleetView& view,
                                                               EmbeddedLogOptions options) {
  REEL_RETURN_IF_ERROR(view.opened());
  REEL_RETURN_IF_ERROR(
      view.Append([](Database& db, FleetView::Messages&) { return log_table::Prepare(db); }));
  std::unique_ptr<EmbeddedLog> log(new EmbeddedLog(view, options));
  view.OnStream(log->created_);
  REEL_RETURN_IF_ERROR(log->Look());
  log->thread_ = std::thread([raw = log.get()] { raw->Run(); });
  return log;
}

EmbeddedLog::EmbeddedLog(FleetView& view, const EmbeddedLogOptions& options)
    : view_(view), options_(options), created_(CreatedOf(view)) {}

EmbeddedLog::~EmbeddedLog() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

LogHealth EmbeddedLog::Health() const {
  LogHealth health;
  health.connected = health.answers = true;
  health.newest = view_.position();
  return health;
}

absl::StatusOr<WriteResult> EmbeddedLog::Write(const LogWrite& write, absl::Duration patience) {
  Mutex mutex;
  CondVar told;
  std::optional<absl::StatusOr<WriteResult>> result;
  Post(write, patience, [&](absl::StatusOr<WriteResult> written) {
    const MutexLock lock(mutex);
    result = std::move(written);
    told.NotifyAll();
  });
  const MutexLock lock(mutex);
  while (!result) told.Wait(mutex);
  return *std::move(result);
}

void EmbeddedLog::Post(LogWrite write, absl::Duration, Written done) {
  const MutexLock lock(mutex_);
  items_.push_back({std::move(write), std::move(done)});
  changed_.NotifyAll();
}

void EmbeddedLog::SendBeat(const std::string&, const std::string& beat) {
  const MutexLock lock(mutex_);
  if (beats_.size() < kMostBeats) beats_.push_back(beat);
}

std::vector<std::string> EmbeddedLog::TakeBeats() {
  const MutexLock lock(mutex_);
  return std::exchange(beats_, {});
}

void EmbeddedLog::Run() {
  absl::Time looked = absl::Now();
  std::vector<Item> items;
  while (TakeItems(items)) {
    const absl::Span<Item> all(items);
    for (size_t next = 0; next < items.size(); next += kMostTogether) {
      Commit(all.subspan(next, kMostTogether));
    }
    items.clear();
    if (absl::Now() - looked < options_.between_looks) continue;
    looked = absl::Now();
    const absl::Status seen = Look();
    if (!seen.ok()) Log(LogLevel::kError, "The log cannot be looked at", {{"error", seen}});
  }
}

bool EmbeddedLog::TakeItems(std::vector<Item>& items) {
  const MutexLock lock(mutex_);
  if (items_.empty() && !stopping_) changed_.WaitFor(mutex_, options_.between_looks);
  items.swap(items_);
  return !items.empty() || !stopping_;
}

void EmbeddedLog::Commit(absl::Span<Item> items) {
  std::vector<WriteResult> results;
  const absl::Status stored = Store(items, results);
  if (!stored.ok() && items.size() > 1) {
    // Commits each alone, so that a failing write does not fail the others.
    for (size_t i = 0; i < items.size(); ++i) Commit(items.subspan(i, 1));
    return;
  }
  for (size_t i = 0; i < items.size(); ++i) {
    if (stored.ok()) {
      items[i].done(results[i]);
    } else {
      items[i].done(Refusal(stored));
    }
  }
}

absl::Status EmbeddedLog::Store(absl::Span<Item> items, std::vector<WriteResult>& results) {
  const absl::Time now = absl::Now();
  const uint64_t position = view_.position();
  return view_.Append([&](Database& db, FleetView::Messages& messages) -> absl::Status {
    for (const Item& item : items) {
      REEL_ASSIGN_OR_RETURN(const WriteResult result,
                            StoreOne(db, item.write, position, now, messages));
      results.push_back(result);
    }
    return absl::OkStatus();
  });
}

absl::Status EmbeddedLog::Look() {
  uint64_t first = 0;
  const absl::Status trimmed =
      view_.Append([&](Database& db, FleetView::Messages&) -> absl::Status {
        REEL_RETURN_IF_ERROR(log_table::Trim(db, absl::Now() - options_.max_age, kMostTrimmed));
        REEL_ASSIGN_OR_RETURN(first, log_table::First(db));
        return absl::OkStatus();
      });
  if (!trimmed.ok()) return trimmed;
  const uint64_t last = view_.position();
  const bool read = view_.OnCaughtUp({created_, first == 0 ? last + 1 : first, last});
  return read ? absl::OkStatus() : absl::DataLossError("its file cannot be read");
}

}  // namespace reel::front
