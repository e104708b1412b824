// SPDX-License-Identifier: Apache-2.0
#include "server/front/kernel_log/gpu_errors.h"

#include "absl/time/clock.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr absl::Duration kBetweenLines = absl::Minutes(1);
// Of GPUs times errors: more than a machine has.
constexpr size_t kMostKinds = 1024;

}  // namespace

bool GpuErrorLines::Take(const Xid& xid, absl::Time now) {
  if (told_.size() >= kMostKinds) told_.clear();
  const auto [place, is_new] = told_.try_emplace({xid.bus_id, xid.number}, now);
  if (!is_new && now - place->second < kBetweenLines) return false;
  place->second = now;
  return true;
}

std::unique_ptr<KernelLog> WatchGpuErrors(const std::string& path,
                                          std::function<void(XidClass, int)> count) {
  const auto take = [count, lines = GpuErrorLines()](std::string_view line) mutable {
    const auto xid = ReadXid(line);
    if (!xid) return;
    const XidClass what = xid->what();
    count(what, 1);
    if (!lines.Take(*xid, absl::Now())) return;
    Log(what == XidClass::kProgram ? LogLevel::kWarning : LogLevel::kError,
        "The driver reports an error of a GPU",
        {{"xid", xid->number}, {"class", NameOf(what)}, {"gpu", xid->bus_id}, {"text", xid->text}});
  };
  auto log = KernelLog::Follow(path, take);
  if (log.ok()) {
    for (const XidClass what : kXidClasses) count(what, 0);
    return *std::move(log);
  }
  Log(LogLevel::kInfo, "The kernel's log cannot be read: errors of GPUs in it are not told",
      {{"error", log.status()}});
  return nullptr;
}

}  // namespace reel::front
