// SPDX-License-Identifier: Apache-2.0
// The WorkerPool of reeld: its own server on a Unix socket, a supervisor, and a slot for each
// configured worker.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/front/workers/file_descriptor.h"
#include "server/front/workers/launcher.h"
#include "server/front/workers/worker_pool.h"
#include "server/front/workers/worker_pool_options.h"

namespace reel::front {

// The folder of the workers' socket: ours alone (mode 0700), short, and gone with us. What a killed
// reeld left behind goes when the next one starts.
class RuntimeFolder {
 public:
  // Inside `base` (the user's run-time folder); in /tmp when that is empty, too long for a socket
  // or not writable.
  static absl::StatusOr<RuntimeFolder> Make(const std::string& base);
  RuntimeFolder(RuntimeFolder&& other) noexcept;
  RuntimeFolder& operator=(RuntimeFolder&&) = delete;
  ~RuntimeFolder();

  std::string socket() const { return path_ + "/w.sock"; }
  // False when somebody has deleted the socket, so that nobody can dial it any more.
  bool HasSocket() const;

 private:
  RuntimeFolder(std::string path, FileDescriptor lock);
  std::string path_;
  // Locked while its process lives. Cleaners of temporary folders that look at locks leave it
  // alone.
  FileDescriptor lock_;
};

class Supervisor;
class WorkerSlot;

// Thread-safe once started.
class WorkerHost final : public WorkerPool {
 public:
  // `launcher`: MakeProcessLauncher in reeld.
  WorkerHost(WorkerPoolOptions options, std::unique_ptr<WorkerLauncher> launcher);
  // Stops.
  ~WorkerHost() override;

  // Listens and starts every worker, once. `events` is called until Stop returns. UNAVAILABLE when
  // the socket cannot be made.
  absl::Status Start(WorkerEvents& events);
  // Lets the workers finish what they hold, for at most `time_left`. None is started again. Returns
  // when all are gone.
  void Drain(absl::Duration time_left);
  // Kills what is left; no child and no report comes after. Idempotent.
  void Stop();

  std::vector<WorkerInfo> Workers() const override;
  void Assign(const std::string& worker, Assignment assignment) override;
  void Cancel(const std::string& worker, const std::string& job) override;
  void Reorder(const std::string& worker, const std::string& job, double order_key) override;
  void Park(const std::string& worker, const std::string& job, bool to_host) override;
  void Resume(const std::string& worker, const std::string& job) override;
  void LoadModel(const std::string& worker, const model::LoadOptions& options,
                 int64_t revision) override;
  void UnloadModel(const std::string& worker, const std::string& model) override;
  void PutOutModel(const std::string& worker, const std::string& model) override;
  void Restore(const std::string& worker) override;
  void SetStepLimit(const std::string& worker, absl::Duration limit) override;

 private:
  // A socket and who answers there.
  struct Entrance;

  WorkerSlot* Find(const std::string& worker) const;
  // Where workers can dial, made at the first call, and anew when somebody has deleted the socket.
  absl::StatusOr<std::string> Socket();

  const WorkerPoolOptions options_;
  std::unique_ptr<WorkerLauncher> launcher_;
  std::vector<std::unique_ptr<WorkerSlot>> slots_;
  // In the order in which Start makes them; Stop takes them down backwards.
  std::vector<std::unique_ptr<Entrance>> entrances_;  // the earlier ones keep their streams
  std::unique_ptr<Supervisor> supervisor_;
};

}  // namespace reel::front
