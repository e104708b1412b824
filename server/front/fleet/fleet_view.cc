// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/fleet_view.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "kernels/base/status_macros.h"
#include "server/front/fleet/view_queries.h"
#include "server/front/fleet/view_store.h"
#include "server/front/fleet/view_tables.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

// Videos reduced to traces per transaction: with messages to fold, and without.
constexpr int kFewForgotten = 100, kManyForgotten = 5000;

absl::Status NotReadable() { return absl::DataLossError("its file cannot be read"); }

}  // namespace

FleetView::FleetView(ViewOptions options, ViewListener* listener)
    : options_(std::move(options)), listener_(listener), store_(OpenStore()) {
  ViewProgress progress = store_->Read<ViewProgress>(view_tables::ReadProgress);
  if (progress.keys != options_.keys && !options_.holds_log) {
    // With other keys, other records can be decoded.
    progress = {0, 0, options_.keys};
    const absl::Status cleared = store_->Change([&](Database& db) -> absl::Status {
      REEL_RETURN_IF_ERROR(view_tables::Clear(db));
      return view_tables::WriteProgress(db, progress);
    });
    if (!cleared.ok()) LeaveFile(cleared);
  }
  position_ = told_ = progress.position;
  created_ = progress.created;
  TellWhatIsKept();
  if (!store_->broken() || options_.holds_log) return;
  LeaveFile(NotReadable());
  OnRebuild();
}

FleetView::~FleetView() = default;

std::shared_ptr<ViewStore> FleetView::OpenStore() {
  if (options_.file.empty()) return ViewStore::InMemory();
  auto opened =
      options_.holds_log ? ViewStore::OpenOnlyCopy(options_.file) : ViewStore::Open(options_.file);
  if (opened.ok()) return *std::move(opened);
  if (options_.holds_log) {
    opened_ = opened.status();
  } else {
    Log(LogLevel::kError,
        "The view of the fleet cannot be kept on disk: it lives in memory, and the next start "
        "reads the whole log",
        {{"file", options_.file}, {"error", opened.status()}});
  }
  return ViewStore::InMemory();
}

void FleetView::TellWhatIsKept() {
  if (listener_ == nullptr) return;
  std::map<Key, ViewChange> changes;
  for (const Key& key : store()->Read<std::vector<Key>>(view_tables::Live))
    changes[key].live = true;
  const auto bills = store()->Read<std::vector<ViewBill>>(view_tables::LastBills);
  if (!changes.empty() || !bills.empty()) listener_->OnFolded(changes, bills);
}

std::shared_ptr<ViewStore> FleetView::store() {
  const MutexLock lock(mutex_);
  return store_;
}

TailStart FleetView::Start() {
  const MutexLock lock(mutex_);
  return {position_, created_};
}

void FleetView::LeaveFile(const absl::Status& why) {
  Log(LogLevel::kError,
      "The view of the fleet cannot be kept on disk any more: the log is read again, into memory",
      {{"error", why}});
  {
    const MutexLock lock(mutex_);
    store_ = ViewStore::InMemory();
    ready_ = false;  // before a reader misses videos that are not read yet
    position_ = 0;
    created_ = 0;
  }
  // The file may be damaged; the next start recreates it.
  ViewStore::Remove(options_.file);
}

void FleetView::OnStream(int64_t created) {
  ViewProgress progress;
  {
    const MutexLock lock(mutex_);
    if (created_ == created) return;
    created_ = created;
    progress = {position_, created, options_.keys};
  }
  // If this is not kept, nothing after it is either.
  store()
      ->Change([&](Database& db) { return view_tables::WriteProgress(db, progress); })
      .IgnoreError();
}

absl::Status FleetView::FoldInto(Database& db, const std::vector<StoredMessage>& messages,
                                 Folded& folded) const {
  if (messages.empty()) return absl::OkStatus();
  StoredRecords records(db);
  ViewBatch batch(records, folded.progress.position, options_.reader);
  for (const StoredMessage& message : messages) {
    const FoldVerdict verdict = batch.Fold(ReadEntry(message));
    if (!IsVoid(verdict)) continue;
    ++folded.voids[verdict];
    Log(LogLevel::kDebug, "a message of the fleet's log is void",
        {{"why", NameOf(verdict)}, {"sequence", message.sequence}});
  }
  batch.Finish();
  REEL_RETURN_IF_ERROR(records.status());
  REEL_RETURN_IF_ERROR(view_tables::Apply(db, batch));
  folded.progress.position = batch.position();
  for (const auto& [key, change] : batch.changes()) {
    folded.changes[key] = {!HasEnded(change.job.phase), change.deleted};
    if (!change.ended || change.facts.device_seconds <= 0) continue;
    folded.bills.push_back({key.first, change.facts.device_seconds, change.facts.end_time});
  }
  return view_tables::WriteProgress(db, folded.progress);
}

absl::StatusOr<FleetView::Folded> FleetView::Fold(
    const std::vector<StoredMessage>& messages, absl::FunctionRef<absl::Status(Database&)> first) {
  Folded folded;
  absl::Time forget;
  {
    const MutexLock lock(mutex_);
    folded.progress = {position_, created_, options_.keys};
    forget = forget_;
  }
  const absl::Status kept = store()->Change([&](Database& db) -> absl::Status {
    REEL_RETURN_IF_ERROR(first(db));
    REEL_RETURN_IF_ERROR(FoldInto(db, messages, folded));
    return view_tables::ForgetExpired(db, forget, kFewForgotten);
  });
  if (!kept.ok()) return kept;
  return folded;
}

bool FleetView::OnMessages(const std::vector<StoredMessage>& messages) {
  absl::StatusOr<Folded> folded = store()->broken()
                                      ? NotReadable()
                                      : Fold(messages, [](Database&) { return absl::OkStatus(); });
  if (!folded.ok()) {
    LeaveFile(folded.status());
    return false;
  }
  Tell(*folded);
  return true;
}

absl::Status FleetView::Append(absl::FunctionRef<absl::Status(Database&, Messages&)> append) {
  if (store()->broken()) return NotReadable();
  Messages messages;
  REEL_ASSIGN_OR_RETURN(const Folded folded,
                        Fold(messages, [&](Database& db) { return append(db, messages); }));
  if (!messages.empty()) Tell(folded);
  return absl::OkStatus();
}

void FleetView::Tell(const Folded& folded) {
  {
    const MutexLock lock(mutex_);
    position_ = folded.progress.position;
    for (const auto& [verdict, count] : folded.voids) voids_[verdict] += count;
    changed_.NotifyAll();
  }
  if (listener_ != nullptr) listener_->OnFolded(folded.changes, folded.bills);
  const MutexLock lock(mutex_);
  told_ = folded.progress.position;
}

void FleetView::OnRebuild() {
  {
    // Before a reader misses what is deleted now.
    const MutexLock lock(mutex_);
    ready_ = false;
  }
  const ViewProgress nowhere{0, 0, options_.keys};
  const absl::Status cleared = store()->Change([&](Database& db) -> absl::Status {
    REEL_RETURN_IF_ERROR(view_tables::Clear(db));
    return view_tables::WriteProgress(db, nowhere);
  });
  if (!cleared.ok()) LeaveFile(cleared);
  {
    const MutexLock lock(mutex_);
    position_ = told_ = 0;
    created_ = 0;
    voids_.clear();
  }
  if (listener_ != nullptr) listener_->OnAnew();
}

bool FleetView::OnCaughtUp(const StreamFacts& facts) {
  if (store()->broken()) {
    if (!options_.holds_log) LeaveFile(NotReadable());
    return false;
  }
  absl::Time forget;
  bool begins_later = false;
  {
    const MutexLock lock(mutex_);
    // The log's beginning moves as it grows.
    begins_later = facts.first > first_;
    first_ = facts.first;
    forget = forget_;
  }
  // The rest is deleted with the next look.
  store()
      ->Change([&](Database& db) -> absl::Status {
        if (begins_later) {
          REEL_RETURN_IF_ERROR(view_tables::ForgetBefore(db, facts.first, options_.holds_log));
        }
        return view_tables::ForgetExpired(db, forget, kManyForgotten);
      })
      .IgnoreError();
  {
    const MutexLock lock(mutex_);
    ready_ = true;
    told_ = std::max(told_, facts.last);  // the log may have lost its newest messages
    changed_.NotifyAll();
  }
  if (listener_ != nullptr) listener_->OnCaughtUp();
  return true;
}

bool FleetView::WaitFor(uint64_t sequence, absl::Duration patience) {
  const absl::Time end = absl::Now() + patience;
  const MutexLock lock(mutex_);
  while (position_ < sequence) {
    const absl::Duration left = end - absl::Now();
    if (left <= absl::ZeroDuration()) return false;
    changed_.WaitFor(mutex_, left);
  }
  return true;
}

bool FleetView::WaitUntilReady(absl::Duration patience) {
  const absl::Time end = absl::Now() + patience;
  const MutexLock lock(mutex_);
  while (!ready_) {
    const absl::Duration left = end - absl::Now();
    if (left <= absl::ZeroDuration()) return false;
    changed_.WaitFor(mutex_, left);
  }
  return true;
}

bool FleetView::ready() {
  const MutexLock lock(mutex_);
  return ready_ && !store_->broken();
}

void FleetView::ForgetExpired(absl::Time time) {
  const MutexLock lock(mutex_);
  forget_ = time;
}

std::optional<FleetJob> FleetView::Find(const std::string& tenant, const std::string& id) {
  std::optional<ViewVideo> found = FindVideo({tenant, id});
  if (!found) return std::nullopt;
  return std::move(found->job);
}

std::optional<ViewVideo> FleetView::FindVideo(const Key& key) {
  return store()->Read<std::optional<ViewVideo>>(
      [&](Database& db) { return view_tables::FindVideo(db, key); });
}

std::optional<FleetTrace> FleetView::FindTrace(const std::string& tenant, const std::string& id) {
  return store()->Read<std::optional<FleetTrace>>(
      [&](Database& db) { return view_tables::FindTrace(db, {tenant, id}); });
}

std::optional<FleetBinding> FleetView::FindBinding(const std::string& tenant,
                                                   const std::string& request_id) {
  return store()->Read<std::optional<FleetBinding>>(
      [&](Database& db) { return view_tables::FindBinding(db, {tenant, request_id}); });
}

std::optional<FleetView::Key> FleetView::FindId(const std::string& id) {
  return store()->Read<std::optional<Key>>(
      [&](Database& db) { return view_tables::FindId(db, id); });
}

std::vector<ViewVideo> FleetView::Page(const ViewPage& page) {
  return store()->Read<std::vector<ViewVideo>>(
      [&](Database& db) { return view_tables::Page(db, page); });
}

std::vector<std::string> FleetView::ContinuedBy(const Key& key, absl::Time now, int most) {
  return store()->Read<std::vector<std::string>>(
      [&](Database& db) { return view_tables::ContinuedBy(db, key, now, most); });
}

std::map<std::string, int64_t> FleetView::StateBytes(absl::Time now) {
  return store()->Read<std::map<std::string, int64_t>>(
      [&](Database& db) { return view_tables::StateBytes(db, now); });
}

std::pair<int64_t, int64_t> FleetView::StateCounts(absl::Time now) {
  return store()->Read<std::pair<int64_t, int64_t>>(
      [&](Database& db) { return view_tables::StateCounts(db, now); });
}

std::map<std::string, ModelPace> FleetView::Paces() {
  return store()->Read<std::map<std::string, ModelPace>>(view_tables::Paces);
}

uint64_t FleetView::position() {
  const MutexLock lock(mutex_);
  return position_;
}

uint64_t FleetView::told() {
  const MutexLock lock(mutex_);
  return told_;
}

FleetState FleetView::state() { return store()->Read<FleetState>(view_tables::Dump); }

std::map<FoldVerdict, int64_t> FleetView::voids() {
  const MutexLock lock(mutex_);
  return voids_;
}

}  // namespace reel::front
