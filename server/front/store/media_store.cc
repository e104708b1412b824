// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/media_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/errors/error.h"
#include "server/front/store/data_folder.h"
#include "server/front/store/inbox.h"
#include "server/front/store/media_file.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

int64_t LeftFree(int64_t disk_bytes) { return std::min(disk_bytes / 10, kMostLeftFree); }

// Ids are looked up before they come here; this is the second lock on the door.
bool IsPlain(const std::string& id) {
  return !id.empty() && id.size() <= 80 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

std::string MediaName(const std::string& id, int attempt) {
  return IsPlain(id) ? absl::StrCat(id, ".", attempt, ".mp4") : "refused";
}

std::string ConditionName(const std::string& id, int index) {
  return IsPlain(id) ? absl::StrCat(id, ".", index) : "refused";
}

void TellOfStrays(int64_t videos, int64_t inputs) {
  if (videos > 0) {
    Log(LogLevel::kError,
        "The data folder has files of videos that the database does not know. They were moved to "
        "quarantine/ in it and are removed after 7 days, or sooner when videos need the room. If "
        "the database was lost or damaged: stop reeld, put a copy of reel.db back, and start it; "
        "the files come back by themselves",
        {{"files", videos}});
  }
  if (inputs > 0) {
    Log(LogLevel::kWarning,
        "The data folder has pictures or clips of requests that the database does not know; they "
        "were moved to quarantine/ in it",
        {{"files", inputs}});
  }
}

class FileMediaStore final : public MediaStore {
 public:
  FileMediaStore(const MediaStoreOptions& options, FileOps& ops, Descriptor media,
                 Descriptor conditions)
      : options_(options),
        ops_(ops),
        media_(std::move(media)),
        conditions_(std::move(conditions)),
        strays_(options.folder),
        inbox_(options.max_waiting_bytes),
        thread_([this] { Loop(); }) {}

  ~FileMediaStore() override {
    inbox_.Close();
    thread_.join();
  }

  void Begin(const std::string& id, int attempt) override {
    Put([this, id, attempt] {
      auto writer = MediaWriter::Create(ops_, media_.get(), MediaName(id, attempt));
      // An error shows at the first Append.
      Growing& growing = growing_[{id, attempt}];
      growing.error = writer.status();
      if (writer.ok()) growing.writer = *std::move(writer);
    });
  }

  void Append(const std::string& id, int attempt, int64_t offset, std::string bytes,
              Reply<int64_t> reply) override {
    const auto weight = static_cast<int64_t>(bytes.size());
    inbox_.PutWhenRoom(Task{[this, id, attempt, offset, bytes = std::move(bytes),
                             reply = std::move(reply)]() mutable {
                              reply(DoAppend({id, attempt}, offset, bytes));
                            },
                            weight},
                       weight);
  }

  void Finish(const std::string& id, int attempt, Reply<MediaDigest> reply) override {
    Put([this, id, attempt, reply = std::move(reply)]() mutable {
      reply(DoFinish({id, attempt}));
    });
  }

  void Remove(const std::string& id, int attempt, Done done) override {
    Put([this, id, attempt, done = std::move(done)]() mutable {
      const absl::Status removed = Drop({id, attempt});
      if (done) done(removed);
    });
  }

  absl::StatusOr<std::shared_ptr<const MediaReader>> Open(
      const std::string& id, int attempt, std::optional<MediaSeal> seal) const override {
    return OpenMediaFile(media_.get(), MediaName(id, attempt), std::move(seal));
  }

  std::string PathOf(const std::string& id, int attempt) const override {
    return absl::StrCat(options_.folder, "/media/", MediaName(id, attempt));
  }

  void PutConditions(const std::string& id, std::vector<Blob> blobs, Done done) override {
    Put([this, id, blobs = std::move(blobs), done = std::move(done)]() mutable {
      const int64_t before = stored_bytes_;
      absl::Status written = DoPutConditions(id, blobs);
      if (!written.ok()) {
        DropConditions(id, static_cast<int>(blobs.size()));
        stored_bytes_ = before;  // of a file that was cut short nothing was counted
      }
      done(std::move(written));
    });
  }

  void ReadConditions(const std::string& id, int count, Reply<std::vector<Blob>> reply) override {
    Put([this, id, count, reply = std::move(reply)]() mutable {
      reply(DoReadConditions(id, count));
    });
  }

  void RemoveConditions(const std::string& id, int count) override {
    if (count > 0) Put([this, id, count] { DropConditions(id, count); });
  }

  absl::StatusOr<std::map<std::string, int64_t>> KeepOnly(const std::vector<Kept>& kept,
                                                          absl::Time now) override;

  DiskUsage Usage() const override {
    DiskUsage usage;
    usage.stored_bytes = AllBytes();
    usage.limit_bytes =
        options_.max_bytes > 0 ? options_.max_bytes : std::numeric_limits<int64_t>::max();
    int64_t total = 0, available = 0;
    if (options_.max_bytes == 0 && ops_.DiskBytes(media_.get(), total, available) == 0) {
      // What others have put on the disk counts, too; strays make room.
      usage.left_free_bytes = LeftFree(total);
      usage.limit_bytes = usage.stored_bytes +
                          std::max<int64_t>(0, available - usage.left_free_bytes + strays_.bytes());
    }
    return usage;
  }

 private:
  int64_t AllBytes() const {
    return stored_bytes_ + (options_.other_bytes == nullptr ? 0 : options_.other_bytes());
  }

  using Key = std::pair<std::string, int>;
  struct Task {
    absl::AnyInvocable<void()> run;
    int64_t weight = 0;
  };
  struct Growing {
    std::unique_ptr<MediaWriter> writer;
    absl::Status error;  // of its beginning
  };

  void Put(absl::AnyInvocable<void()> run) { inbox_.Put(Task{std::move(run)}); }

  void Loop() {
    std::vector<Task> tasks;
    while (inbox_.TakeAll(tasks)) {
      for (Task& task : tasks) {
        task.run();
        task.run = nullptr;  // its bytes go before its weight does
        if (task.weight > 0) inbox_.Release(task.weight);
      }
    }
  }

  absl::StatusOr<int64_t> DoAppend(const Key& key, int64_t offset, const std::string& bytes) {
    const auto found = growing_.find(key);
    if (found == growing_.end()) return absl::AbortedError("The file is not open for writing");
    Growing& growing = found->second;
    absl::Status written = growing.error;
    if (written.ok()) written = MakeRoom(static_cast<int64_t>(bytes.size()));
    if (written.ok()) written = growing.writer->Append(offset, bytes);
    if (!written.ok()) {
      // Its end can be written once there is room, and its readers wait for the end.
      if (growing.writer != nullptr) growing.writer->GiveBack();
      (void)Drop(key);
      return written;
    }
    stored_bytes_ += static_cast<int64_t>(bytes.size());
    return growing.writer->size();
  }

  // For so many bytes; strays go for it.
  absl::Status MakeRoom(int64_t bytes) {
    if (options_.max_bytes > 0 && AllBytes() + bytes > options_.max_bytes) {
      return MakeError(Reason::kStoreFull, "The store for results has reached its limit");
    }
    if (strays_.bytes() > 0) strays_.Free(bytes - RoomBesideStrays());
    return absl::OkStatus();
  }

  int64_t RoomBesideStrays() const {
    if (options_.max_bytes > 0) return options_.max_bytes - AllBytes() - strays_.bytes();
    int64_t total = 0, available = 0;
    if (ops_.DiskBytes(media_.get(), total, available) != 0) return 0;
    return available - LeftFree(total);
  }

  absl::StatusOr<MediaDigest> DoFinish(const Key& key) {
    const auto found = growing_.find(key);
    if (found == growing_.end()) return absl::AbortedError("The file is not open for writing");
    absl::Status begun = found->second.error;
    if (!begun.ok()) {
      (void)Drop(key);
      return begun;
    }
    absl::StatusOr<MediaDigest> digest = found->second.writer->Finish(media_.get());
    if (!digest.ok()) {
      (void)Drop(key);
    } else {
      growing_.erase(found);
    }
    return digest;
  }

  // Takes back what was counted: of a growing file what was appended, since a write that failed
  // half-way left more than that.
  absl::Status Drop(const Key& key) {
    const std::string name = MediaName(key.first, key.second);
    struct stat info = {};
    int64_t counted = 0;
    if (::fstatat(media_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
      counted = info.st_size;
    }
    if (const auto found = growing_.find(key); found != growing_.end()) {
      counted = found->second.writer == nullptr ? 0 : found->second.writer->size();
      growing_.erase(found);
    }
    REEL_RETURN_IF_ERROR(Unlink(media_.get(), name));
    stored_bytes_ -= counted;
    return absl::OkStatus();
  }

  static absl::Status Unlink(int folder, const std::string& name) {
    if (::unlinkat(folder, name.c_str(), 0) != 0 && errno != ENOENT) return WriteError(errno);
    return absl::OkStatus();
  }

  absl::Status DoPutConditions(const std::string& id, const std::vector<Blob>& blobs) {
    for (size_t i = 0; i < blobs.size(); ++i) {
      REEL_RETURN_IF_ERROR(MakeRoom(static_cast<int64_t>(blobs[i]->size())));
      const std::string name = ConditionName(id, static_cast<int>(i));
      REEL_ASSIGN_OR_RETURN(auto writer, MediaWriter::Create(ops_, conditions_.get(), name));
      REEL_RETURN_IF_ERROR(writer->Append(0, *blobs[i]));
      REEL_RETURN_IF_ERROR(writer->Finish(conditions_.get()).status());
      stored_bytes_ += writer->size();
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Blob>> DoReadConditions(const std::string& id, int count) {
    constexpr int64_t kMost = 64ll << 20;
    std::vector<Blob> blobs;
    for (int i = 0; i < count; ++i) {
      REEL_ASSIGN_OR_RETURN(auto reader,
                            OpenMediaFile(conditions_.get(), ConditionName(id, i), {}));
      struct stat info = {};
      if (::fstatat(conditions_.get(), ConditionName(id, i).c_str(), &info, 0) != 0) {
        info.st_size = 0;
      }
      REEL_ASSIGN_OR_RETURN(std::string bytes,
                            reader->Read(0, std::min<int64_t>(info.st_size, kMost)));
      blobs.push_back(std::make_shared<const std::string>(std::move(bytes)));
    }
    return blobs;
  }

  void DropConditions(const std::string& id, int count) {
    for (int i = 0; i < count; ++i) {
      const std::string name = ConditionName(id, i);
      struct stat info = {};
      if (::fstatat(conditions_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (Unlink(conditions_.get(), name).ok()) stored_bytes_ -= info.st_size;
    }
  }

  // Every file of a folder of ours that is none of `names`: known videos' are removed, others are
  // moved away. Returns how many went that way.
  absl::StatusOr<int64_t> Sort(const std::string& folder, const std::set<std::string>& names,
                               const std::set<std::string>& known, absl::Time now);

  const MediaStoreOptions options_;
  FileOps& ops_;
  const Descriptor media_, conditions_;  // folders
  std::map<Key, Growing> growing_;       // media thread's
  std::atomic<int64_t> stored_bytes_ = 0;
  StrayFiles strays_;  // media thread's, but for their bytes
  Inbox<Task> inbox_;
  std::thread thread_;
};

absl::StatusOr<int64_t> FileMediaStore::Sort(const std::string& folder,
                                             const std::set<std::string>& names,
                                             const std::set<std::string>& known, absl::Time now) {
  for (const std::string& name : names) strays_.GiveBack(folder + "/" + name);
  int64_t strays = 0, stuck = 0;
  absl::Status why;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(options_.folder + "/" + folder, error)) {
    std::error_code ignored;
    // A folder is none of ours, e.g. what a file system keeps at its root.
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored)) continue;
    const std::string name = entry.path().filename().string();
    if (names.contains(name)) continue;
    if (name.starts_with(kScratchFile) || known.contains(name.substr(0, name.find('.')))) {
      std::filesystem::remove(entry.path(), ignored);
      continue;
    }
    const absl::Status moved = strays_.Take(folder + "/" + name, now);
    ++(moved.ok() ? strays : stuck);
    if (!moved.ok()) why = moved;
  }
  if (error) {
    return absl::InternalError(absl::StrCat("The data folder cannot be read: ", error.message()));
  }
  // What cannot be moved, e.g. from a disk of its own, stays: it is not ours to destroy.
  if (stuck > 0) {
    Log(LogLevel::kError, "Files that the database does not know stay where they are",
        {{"folder", folder}, {"files", stuck}, {"error", why}});
  }
  return strays;
}

absl::StatusOr<std::map<std::string, int64_t>> FileMediaStore::KeepOnly(
    const std::vector<Kept>& kept, absl::Time now) {
  std::set<std::string> media, conditions, known;
  for (const Kept& file : kept) {
    known.insert(file.id);
    if (file.attempt > 0) media.insert(MediaName(file.id, file.attempt));
    for (int i = 0; i < file.num_conditions; ++i) conditions.insert(ConditionName(file.id, i));
  }
  REEL_RETURN_IF_ERROR(strays_.Open(now));
  REEL_ASSIGN_OR_RETURN(const int64_t videos, Sort("media", media, known, now));
  REEL_ASSIGN_OR_RETURN(const int64_t inputs, Sort("conditions", conditions, known, now));
  TellOfStrays(videos, inputs);

  const auto size_of = [](const Descriptor& folder, const std::string& name) {
    struct stat info = {};
    const bool there = ::fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
    return there ? int64_t{info.st_size} : 0;
  };
  int64_t bytes = 0;
  for (const std::string& name : media) bytes += size_of(media_, name);
  std::map<std::string, int64_t> by_id;
  for (const std::string& name : conditions) {
    const int64_t size = size_of(conditions_, name);
    by_id[name.substr(0, name.find('.'))] += size;
    bytes += size;
  }
  stored_bytes_ = bytes;
  // On a disk without a limit of ours nobody needs their room yet.
  if (options_.max_bytes > 0) strays_.Free(-RoomBesideStrays());
  return by_id;
}

}  // namespace

absl::StatusOr<std::unique_ptr<MediaStore>> OpenMediaStore(const MediaStoreOptions& options,
                                                           FileOps& ops) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  Descriptor media(::open((options.folder + "/media").c_str(), kFlags));
  Descriptor conditions(::open((options.folder + "/conditions").c_str(), kFlags));
  if (!media.ok() || !conditions.ok()) {
    return absl::ErrnoToStatus(errno,
                               absl::StrCat("The data folder cannot be opened: ", options.folder));
  }
  return std::make_unique<FileMediaStore>(options, ops, std::move(media), std::move(conditions));
}

}  // namespace reel::front
