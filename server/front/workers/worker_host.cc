// SPDX-License-Identifier: Apache-2.0
#include "server/front/workers/worker_host.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/front/workers/attach_server.h"
#include "server/front/workers/supervisor.h"
#include "server/front/workers/worker_slot.h"
#include "server/logging/log.h"

namespace reel::front {

struct WorkerHost::Entrance {
  RuntimeFolder folder;
  std::unique_ptr<AttachServer> server;
};

WorkerHost::WorkerHost(WorkerPoolOptions options, std::unique_ptr<WorkerLauncher> launcher)
    : options_(std::move(options)), launcher_(std::move(launcher)) {
  for (const WorkerOptions& worker : options_.workers) {
    slots_.push_back(std::make_unique<WorkerSlot>(worker, options_, [this] { launcher_->Wake(); }));
  }
}

WorkerHost::~WorkerHost() { Stop(); }

absl::Status WorkerHost::Start(WorkerEvents& events) {
  for (const auto& slot : slots_) slot->SetEvents(events);
  REEL_RETURN_IF_ERROR(Socket().status());
  std::vector<WorkerSlot*> slots;
  for (const auto& slot : slots_) slots.push_back(slot.get());
  // From here on only the supervisor's thread asks.
  supervisor_ =
      std::make_unique<Supervisor>(options_, *launcher_, [this] { return Socket(); }, slots);
  return absl::OkStatus();
}

absl::StatusOr<std::string> WorkerHost::Socket() {
  if (!entrances_.empty()) {
    const RuntimeFolder& last = entrances_.back()->folder;
    if (last.HasSocket()) return last.socket();
    Log(LogLevel::kWarning, "The workers' socket was deleted; a new one is made",
        {{"socket", last.socket()}});
  }
  REEL_ASSIGN_OR_RETURN(RuntimeFolder folder, RuntimeFolder::Make(options_.runtime_base));
  const std::string socket = folder.socket();
  auto admit = [this](const worker::v1::Hello& hello,
                      std::shared_ptr<Session> session) -> absl::StatusOr<SessionOwner*> {
    WorkerSlot* const slot = Find(hello.worker());
    if (!slot) return absl::UnauthenticatedError("No worker of this name is configured");
    REEL_RETURN_IF_ERROR(slot->Admit(hello, std::move(session)));
    return slot;
  };
  REEL_ASSIGN_OR_RETURN(auto server, AttachServer::Start(socket, std::move(admit)));
  entrances_.push_back(std::make_unique<Entrance>(Entrance{std::move(folder), std::move(server)}));
  return socket;
}

void WorkerHost::Drain(absl::Duration time_left) {
  if (supervisor_) supervisor_->Drain(time_left);
}

void WorkerHost::Stop() {
  supervisor_.reset();
  entrances_.clear();
  for (const auto& slot : slots_) slot->EndReports();
}

std::vector<WorkerInfo> WorkerHost::Workers() const {
  std::vector<WorkerInfo> workers;
  for (const auto& slot : slots_) workers.push_back(slot->Info());
  return workers;
}

void WorkerHost::Assign(const std::string& worker, Assignment assignment) {
  if (WorkerSlot* const slot = Find(worker)) slot->Assign(assignment);
}

void WorkerHost::Cancel(const std::string& worker, const std::string& job) {
  worker::v1::AttachResponse message;
  message.mutable_cancel()->set_job(job);
  if (WorkerSlot* const slot = Find(worker)) slot->Send(job, std::move(message));
}

void WorkerHost::Reorder(const std::string& worker, const std::string& job, double order_key) {
  worker::v1::AttachResponse message;
  message.mutable_reorder()->set_job(job);
  message.mutable_reorder()->set_order_key(order_key);
  if (WorkerSlot* const slot = Find(worker)) slot->Send(job, std::move(message));
}

void WorkerHost::Park(const std::string& worker, const std::string& job, bool to_host) {
  worker::v1::AttachResponse message;
  message.mutable_park()->set_job(job);
  message.mutable_park()->set_to_host(to_host);
  if (WorkerSlot* const slot = Find(worker)) slot->Send(job, std::move(message));
}

void WorkerHost::Resume(const std::string& worker, const std::string& job) {
  worker::v1::AttachResponse message;
  message.mutable_resume()->set_job(job);
  if (WorkerSlot* const slot = Find(worker)) slot->Send(job, std::move(message));
}

void WorkerHost::LoadModel(const std::string& worker, const model::LoadOptions& options,
                           int64_t revision) {
  if (WorkerSlot* const slot = Find(worker)) slot->LoadModel(options, revision);
}

void WorkerHost::UnloadModel(const std::string& worker, const std::string& model) {
  if (WorkerSlot* const slot = Find(worker)) slot->UnloadModel(model, /*for_good=*/true);
}

void WorkerHost::PutOutModel(const std::string& worker, const std::string& model) {
  if (WorkerSlot* const slot = Find(worker)) slot->UnloadModel(model, /*for_good=*/false);
}

void WorkerHost::Restore(const std::string& worker) {
  if (WorkerSlot* const slot = Find(worker)) slot->Restore();
}

void WorkerHost::SetStepLimit(const std::string& worker, absl::Duration limit) {
  if (WorkerSlot* const slot = Find(worker)) slot->SetStepLimit(limit);
}

WorkerSlot* WorkerHost::Find(const std::string& worker) const {
  for (const auto& slot : slots_) {
    if (slot->name() == worker) return slot.get();
  }
  return nullptr;
}

namespace {

constexpr char kPrefix[] = "reeld-";
constexpr char kTemplate[] = "/reeld-XXXXXX";
constexpr char kSocket[] = "w.sock";
constexpr size_t kMaxBase = 80;  // with the template and the socket's name well below 107
constexpr int kAttempts = 3;

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

// Opened and locked; none when it is not a folder of ours, or when a living process holds it.
FileDescriptor Lock(int parent, const char* path) {
  FileDescriptor folder(openat(parent, path, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info{};
  if (!folder || fstat(folder.get(), &info) != 0 || info.st_uid != geteuid()) return {};
  if (flock(folder.get(), LOCK_EX | LOCK_NB) != 0) return {};
  return folder;
}

void RemoveLeftOvers(const std::string& place) {
  const std::unique_ptr<DIR, CloseFolder> folder(opendir(place.c_str()));
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder.get())) {
    if (!absl::StartsWith(entry->d_name, kPrefix)) continue;
    const FileDescriptor left = Lock(dirfd(folder.get()), entry->d_name);
    if (!left) continue;
    unlinkat(left.get(), kSocket, 0);
    unlinkat(dirfd(folder.get()), entry->d_name, AT_REMOVEDIR);  // fails where there is more in it
  }
}

bool IsAt(const FileDescriptor& folder, const std::string& path) {
  struct stat ours{}, there{};
  return fstat(folder.get(), &ours) == 0 && lstat(path.c_str(), &there) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

struct LockedFolder {
  std::string path;
  FileDescriptor lock;
};

std::optional<LockedFolder> MakeLocked(const std::string& place) {
  // Another reeld that starts may take a folder for left over until it is locked.
  for (int i = 0; i < kAttempts; ++i) {
    std::string path = place + kTemplate;
    if (mkdtemp(path.data()) == nullptr) return std::nullopt;
    FileDescriptor lock = Lock(AT_FDCWD, path.c_str());
    if (lock && IsAt(lock, path)) return LockedFolder{std::move(path), std::move(lock)};
    rmdir(path.c_str());
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<RuntimeFolder> RuntimeFolder::Make(const std::string& base) {
  for (const std::string& place : {base, std::string("/tmp")}) {
    if (place.empty() || place.size() > kMaxBase) continue;
    RemoveLeftOvers(place);
    if (auto made = MakeLocked(place)) {
      return RuntimeFolder(std::move(made->path), std::move(made->lock));
    }
  }
  return absl::UnavailableError(
      absl::StrCat("Cannot make a folder for the workers' socket: ", strerror(errno)));
}

RuntimeFolder::RuntimeFolder(std::string path, FileDescriptor lock)
    : path_(std::move(path)), lock_(std::move(lock)) {}

RuntimeFolder::RuntimeFolder(RuntimeFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

RuntimeFolder::~RuntimeFolder() {
  if (path_.empty()) return;
  unlink(socket().c_str());
  rmdir(path_.c_str());
}

bool RuntimeFolder::HasSocket() const {
  return IsAt(lock_, path_) && access(socket().c_str(), F_OK) == 0;
}

}  // namespace reel::front
