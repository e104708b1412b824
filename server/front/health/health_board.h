// SPDX-License-Identifier: Apache-2.0
// The health of each service, by its name; watchers are told of changes. Free of gRPC.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "kernels/base/mutex.h"

namespace reel::front {

// The names that probes may ask for.
inline constexpr char kHealthAll[] = "";
inline constexpr char kHealthVideoService[] = "reel.v1.VideoService";
inline constexpr char kHealthServerService[] = "reel.v1.ServerService";
inline constexpr char kHealthLiveness[] = "liveness";
inline constexpr char kHealthStartup[] = "startup";

// Called without the board's lock, on the thread that made the change. Must not block.
class HealthWatcher {
 public:
  virtual ~HealthWatcher() = default;
  virtual void HealthChanged() = 0;
};

// Thread-safe.
class HealthBoard {
 public:
  // Every name NOT_SERVING but liveness and the server's own service, which are true while the
  // process answers.
  HealthBoard();

  // A worker is ready and nothing is draining: "" and the video service.
  void SetAdmitting(bool admitting);
  // A first model is warm. Stays.
  void SetStarted();
  // The listener and the supervisor are sane.
  void SetAlive(bool alive);
  // No more admission from now on, whatever SetAdmitting says.
  void Drain();
  // Watches end.
  void Close();

  // Nullopt for a name that is not known.
  std::optional<bool> Serving(const std::string& service) const;
  std::map<std::string, bool> All() const;
  bool closed() const;

  // Told until it is gone.
  void Watch(std::weak_ptr<HealthWatcher> watcher);

 private:
  void Set(const std::vector<std::string>& services, bool serving);
  void Tell();

  mutable Mutex mutex_;
  std::map<std::string, bool> serving_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<HealthWatcher>> watchers_ ABSL_GUARDED_BY(mutex_);
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

// Looks at what health depends on, often enough that a probe learns of a change within 100 ms.
class HealthMonitor {
 public:
  // `admitting` and `warm` are asked on the monitor's thread; `warm` until it is true.
  HealthMonitor(HealthBoard& board, std::function<bool()> admitting, std::function<bool()> warm,
                absl::Duration period = absl::Milliseconds(50));
  ~HealthMonitor();
  HealthMonitor(const HealthMonitor&) = delete;
  HealthMonitor& operator=(const HealthMonitor&) = delete;

 private:
  void Run();

  HealthBoard& board_;
  const std::function<bool()> admitting_, warm_;
  const absl::Duration period_;
  Mutex mutex_;
  CondVar stop_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace reel::front
