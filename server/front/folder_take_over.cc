// SPDX-License-Identifier: Apache-2.0
#include "server/front/folder_take_over.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/mutex.h"
#include "kernels/base/program/whole_file.h"
#include "kernels/base/status_macros.h"
#include "server/front/fleet/embedded_log.h"
#include "server/front/fleet/log_messages.h"
#include "server/front/fleet/subjects.h"
#include "server/front/jobs/video_id.h"
#include "server/front/node/fleet_video.h"
#include "server/front/node/object_keys.h"
#include "server/front/store/job_rows.h"
#include "server/front/store/sqlite.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr int kPage = 200;

absl::Status Rename(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("The file cannot be renamed: ", from));
}

absl::Status SyncFolder(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = folder >= 0 && ::fsync(folder) == 0;
  if (folder >= 0) ::close(folder);
  if (synced) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("The folder cannot be synced: ", path));
}

// A copy of what there was, once.
absl::Status CopyAside(Database& old, const std::string& path) {
  if (::access(path.c_str(), F_OK) == 0) return absl::OkStatus();
  const std::string made = path + ".new";
  std::remove(made.c_str());
  std::string quoted;
  for (const char c : made) quoted.append(c == '\'' ? 2 : 1, c);
  REEL_RETURN_IF_ERROR(old.Execute(absl::StrCat("VACUUM INTO '", quoted, "'").c_str()));
  return Rename(made, path);
}

// Writes groups of messages, many in one transaction.
class Writer {
 public:
  explicit Writer(LogPort& log) : log_(log) {}

  absl::Status Put(const std::vector<LogMessage>& group) {
    std::vector<LogWrite> writes;
    for (const LogMessage& said : group) {
      REEL_ASSIGN_OR_RETURN(std::string subject, MakeSubject(said.subject));
      writes.push_back({std::move(subject), said.payload, absl::StrCat("taken.", ++written_)});
    }
    LogWrite first = std::move(writes.front());
    first.also.assign(std::make_move_iterator(writes.begin() + 1),
                      std::make_move_iterator(writes.end()));
    {
      const MutexLock lock(mutex_);
      ++open_;
    }
    log_.Post(std::move(first), absl::InfiniteDuration(),
              [this](const absl::StatusOr<WriteResult>& result) {
                const MutexLock lock(mutex_);
                status_.Update(result.status());
                if (--open_ == 0) none_.NotifyAll();
              });
    return absl::OkStatus();
  }
  absl::Status Wait() {
    const MutexLock lock(mutex_);
    while (open_ > 0) none_.Wait(mutex_);
    return status_;
  }

 private:
  LogPort& log_;
  int64_t written_ = 0;
  Mutex mutex_;
  CondVar none_;
  int64_t open_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

class TakeOver {
 public:
  TakeOver(const DataFolder& folder, Database& old, const VideoSerializer& serializer,
           const TakeOverNames& names, ObjectStore& objects, LogPort& log)
      : folder_(folder),
        old_(old),
        serializer_(serializer),
        names_(names),
        objects_(objects),
        writer_(log) {}

  absl::Status Run() {
    REEL_RETURN_IF_ERROR(TakeTombstones());
    PageQuery query;
    query.oldest_first = true;
    query.limit = kPage;
    while (true) {
      REEL_ASSIGN_OR_RETURN(const std::vector<JobRow> page, rows::Page(old_, query));
      for (const JobRow& row : page) REEL_RETURN_IF_ERROR(Take(row));
      REEL_RETURN_IF_ERROR(writer_.Wait());
      if (page.size() < static_cast<size_t>(kPage)) return absl::OkStatus();
      query.before_time = page.back().create_time;
      query.before_id = page.back().id;
    }
  }
  int64_t videos() const { return videos_; }

 private:
  absl::Status Take(const JobRow& row) {
    const absl::StatusOr<Video> video = serializer_.Parse(row.video);
    const bool live = row.state == VideoState::kQueued || row.state == VideoState::kRunning;
    if (!video.ok()) {
      Log(LogLevel::kError, "The stored record of a video is damaged",
          {{"video", row.id}, {"error", video.status()}});
      if (live) return absl::OkStatus();  // nothing of it is known
    }
    if (live) REEL_RETURN_IF_ERROR(TakeConditions(row, *video));
    const absl::Status put = writer_.Put(MessagesOf(row));
    if (absl::IsInvalidArgument(put)) {
      Log(LogLevel::kError, "A stored video has a name that no log takes; it is left out",
          {{"video", row.id}, {"error", put}});
      return absl::OkStatus();
    }
    ++videos_;
    return put;
  }

  std::vector<LogMessage> MessagesOf(const JobRow& row) const {
    std::vector<LogMessage> said;
    if (!row.request_id.empty()) {
      said.push_back({{row.tenant, row.request_id, LogKind::kBinding, 1},
                      WriteBinding({row.id, row.spec_hash})});
    }
    said.push_back({{row.tenant, row.id, LogKind::kRequest, 0}, WriteRequest({row.video, ""})});
    if (row.state == VideoState::kCancelled) {
      said.push_back({{row.tenant, row.id, LogKind::kCancel, 0},
                      WriteWish({CancelKind::kCancelled, row.video})});
      return said;
    }
    // Its claim says which attempts are its owner's. Of one that lives it is all: the process has
    // left it.
    const uint32_t epoch = EpochOf(row.attempt);
    AddClaims(row.tenant, row.id, epoch, {names_.node, ""}, said);
    if (row.state == VideoState::kQueued || row.state == VideoState::kRunning) return said;
    const bool done = row.state == VideoState::kSucceeded;
    FinishSaid finish{names_.node, done ? FinishKind::kSucceeded : FinishKind::kFailed};
    finish.video = row.video;
    finish.last_sequence = row.last_sequence;
    said.push_back({{row.tenant, row.id, LogKind::kFinish, epoch}, WriteFinish(finish, "")});
    return said;
  }

  absl::Status TakeConditions(const JobRow& row, const Video& video) {
    for (size_t i = 0; i < video.spec.conditions.size(); ++i) {
      const model::Condition& condition = video.spec.conditions[i];
      const std::string path = absl::StrCat(folder_.path(), "/conditions/", row.id, ".", i);
      const std::string bytes = ReadWholeFile(path).value_or("");
      const std::string key =
          ConditionKeys(Seal(), names_.replica, row.tenant, condition.sha256).front();
      REEL_RETURN_IF_ERROR(objects_.PutBytes(key, bytes, condition.content_type));
    }
    return absl::OkStatus();
  }

  // Request ids of finished videos that were removed: of one that nobody can ask for any more.
  absl::Status TakeTombstones() {
    REEL_ASSIGN_OR_RETURN(const auto tombstones, rows::Tombstones(old_));
    for (const auto& [tenant, request_id] : tombstones) {
      const std::string id = NewVideoId(names_.replica);
      FinishSaid finish{names_.node, FinishKind::kSucceeded};
      REEL_RETURN_IF_ERROR(
          writer_.Put({{{tenant, request_id, LogKind::kBinding, 1}, WriteBinding({id, ""})},
                       {{tenant, id, LogKind::kRequest, 0}, WriteRequest({})},
                       {{tenant, id, LogKind::kClaim, 1}, WriteClaim({names_.node, ""})},
                       {{tenant, id, LogKind::kFinish, 1}, WriteFinish(finish, "")},
                       {{tenant, id, LogKind::kDelete, 0}, WriteDeletion()}}));
    }
    return writer_.Wait();
  }

  const DataFolder& folder_;
  Database& old_;
  const VideoSerializer& serializer_;
  const TakeOverNames& names_;
  ObjectStore& objects_;
  Writer writer_;
  int64_t videos_ = 0;
};

}  // namespace

absl::Status TakeOverFolder(const DataFolder& folder, const VideoSerializer& serializer,
                            const TakeOverNames& names, ObjectStore& objects) {
  const std::string made = folder.log_path() + ".new";
  const std::string aside = folder.database_path() + ".before-log";
  RemoveDatabase(made);
  REEL_ASSIGN_OR_RETURN(const auto old, Database::OpenAgain(folder.database_path()));
  REEL_RETURN_IF_ERROR(CopyAside(*old, aside));
  int64_t videos = 0;
  {
    const Seal none;
    const LoggedVideos reader(serializer, none);
    FleetView view({made, "", &reader, /*holds_log=*/true});
    REEL_ASSIGN_OR_RETURN(const std::unique_ptr<EmbeddedLog> log, EmbeddedLog::Open(view));
    TakeOver taken(folder, *old, serializer, names, objects, *log);
    REEL_RETURN_IF_ERROR(taken.Run());
    videos = taken.videos();
  }
  // The last connection to it has brought all of it into the one file.
  REEL_RETURN_IF_ERROR(Rename(made, folder.log_path()));
  REEL_RETURN_IF_ERROR(SyncFolder(folder.path()));
  Log(LogLevel::kWarning,
      "The data folder is of an earlier build and was taken over; the database as it was is kept",
      {{"videos", videos}, {"kept", aside}});
  return absl::OkStatus();
}

}  // namespace reel::front
