// SPDX-License-Identifier: Apache-2.0
#include "server/worker/app.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kernels/dispatch/copy_speed.h"
#include "kernels/dispatch/device_gone.h"
#include "kernels/dispatch/kernel_timer.h"
#include "kernels/open_device.h"
#include "model/registry.h"
#include "server/logging/log.h"
#include "server/worker/bus_ids.h"
#include "server/worker/energy_reader.h"
#include "server/worker/energy_sampler.h"
#include "server/worker/engine/engine.h"
#include "server/worker/link/worker_link.h"
#include "server/worker/near_device.h"
#include "server/worker/plugin_loader.h"
#include "server/worker/plugin_probe.h"

namespace reel::worker {
namespace {

constexpr int kDeviceLostStatus = 42;  // its context: another process can use it
constexpr int kDeviceGoneStatus = 43;  // not before an operator has looked
// Time for the front to read what is queued.
constexpr absl::Duration kGoodbye = absl::Seconds(5);
constexpr absl::Duration kHastyGoodbye = absl::Milliseconds(500);

class EngineTarget final : public CommandTarget {
 public:
  explicit EngineTarget(Engine& engine) : engine_(engine) {}
  void Post(EngineCommand command) override { engine_.Post(std::move(command)); }
  absl::Duration in_step() const override { return engine_.in_step(); }

 private:
  Engine& engine_;
};

// Reads to the end of the pipe, at most a little more than any token has.
std::string ReadToken(int fd) {
  std::array<char, 256> buffer;
  std::string token;
  for (ssize_t size; token.size() < 1024 && (size = read(fd, buffer.data(), buffer.size())) > 0;) {
    token.append(buffer.data(), static_cast<size_t>(size));
  }
  close(fd);
  return token;
}

// For people: "cpu", "cuda:0 NVIDIA H200".
std::string DeviceText(const std::string& device, const kernels::DeviceFacts& facts) {
  return facts.name.empty() ? device : absl::StrCat(device, " ", facts.name);
}

// Measured after threads were bound near the device, as its weights' memory will be. 0 on a CPU, or
// if it fails; first estimates then assume a usual link.
int64_t CopySpeedOf(const kernels::OpenedDevice& opened) {
  if (opened.library == nullptr) return 0;
  const auto speed = kernels::MeasureCopySpeed(*opened.library, opened.stream.device);
  if (speed.ok()) return *speed;
  Log(LogLevel::kWarning, "The speed of copies to the device is not known",
      {{"error", speed.status()}});
  return 0;
}

LinkOptions LinkOptionsOf(const WorkerFlags& flags, const kernels::OpenedDevice& opened) {
  LinkOptions options;
  options.socket = flags.socket;
  options.worker = flags.name;
  options.token = ReadToken(flags.token_fd);
  options.device = DeviceText(flags.device, opened.facts);
  options.memory_total_bytes = opened.facts.memory_bytes;
  options.compute_capability = opened.catalog.capability().sm;
  options.copy_bytes_per_second = CopySpeedOf(opened);
  options.kernels = opened.catalog.List();
  options.versions = model::FrameworkVersions();
  options.versions["reel"] = REEL_VERSION;
  return options;
}

// Before the engine makes plans. The link's heartbeat runs meanwhile.
void OpenPlugins(const WorkerFlags& flags, kernels::OpenedDevice& device, WorkerLink& link) {
  const std::vector<kernels::PluginSource>& plugins = link.settings().plugins;
  if (plugins.empty()) return;
  PluginLoader loader(device.catalog, device.stream, [&](const kernels::PluginSource& plugin) {
    return ProbePlugin({.plugin = plugin, .device = flags.device});
  });
  const auto listings = loader.OpenAll(plugins);
  link.Report({.worker = {}, .ref = {}, .event = KernelsListed{device.catalog.List(), listings}});
}

// Without the limit the front's account is all that holds models and videos to it.
void LimitMemoryTo(const kernels::OpenedDevice& opened, const WorkerSettings& settings) {
  if (settings.memory_bytes == 0) return;
  const absl::Status limited =
      model::LimitMemory(opened.stream, opened.peers, settings.memory_bytes);
  if (limited.ok()) return;
  Log(LogLevel::kWarning, "memory_bytes is no hard limit here", {{"error", limited}});
}

std::vector<int> DevicesOf(const kernels::OpenedDevice& opened) {
  std::vector<int> ranks = {opened.stream.device};
  ranks.insert(ranks.end(), opened.peers.begin(), opened.peers.end());
  return ranks;
}

// What models and videos may take; 0 on a CPU.
int64_t DeviceMemoryOf(const kernels::OpenedDevice& opened, const WorkerSettings& settings) {
  const int64_t all = opened.facts.memory_bytes;
  return settings.memory_bytes > 0 ? std::min(all, settings.memory_bytes) : all;
}

EngineOptions EngineOptionsOf(const kernels::OpenedDevice& opened, const WorkerSettings& settings,
                              const std::string& device, kernels::KernelTimer* timer,
                              EnergyReader energy) {
  EngineOptions options{.stream = opened.stream,
                        .peers = opened.peers,
                        .device = device,
                        .fill_rows = settings.fill_rows,
                        .kernel_sample_every = settings.kernel_sample_every,
                        .timer = timer,
                        .read_memory = model::MemoryReaderFor(opened.stream, opened.peers),
                        .read_energy = Sampled(std::move(energy)),
                        .probe_device = model::DeviceProbeFor(opened.stream, opened.peers),
                        .memory_bytes = settings.memory_bytes,
                        .device_memory = DeviceMemoryOf(opened, settings),
                        .return_memory = model::MemoryReturnerFor(opened.stream),
                        .encoder_threads = settings.encoder_threads};
  if (opened.stream.device < 0 && settings.memory_bytes > 0) {
    options.counted = std::make_shared<model::CountedMemory>(settings.memory_bytes);
    options.read_memory = [counted = options.counted] { return counted->Read(); };
  }
  return options;
}

}  // namespace

int RunWorker(const WorkerFlags& flags) {
  auto opened = kernels::OpenDevice(flags.device, kernels::CudaLibraryPath());
  if (!opened.ok()) {
    Log(LogLevel::kError, "The device cannot be used", {{"error", opened.status()}});
    return kDeviceGoneStatus;
  }
  const std::vector<std::string> bus_ids = BusIds(DevicesOf(*opened));
  // Before any other thread of ours begins.
  if (const int cores = StayOn(CpusNear(bus_ids)); cores > 0) {
    Log(LogLevel::kInfo, "Threads stay on the cores next to the device", {{"cores", cores}});
  }
  kernels::KernelCatalog& catalog = opened->catalog;
  model::AddModelVariants(catalog);

  const LinkOptions options = LinkOptionsOf(flags, *opened);
  auto connected = WorkerLink::Connect(options);
  if (!connected.ok()) {
    Log(LogLevel::kError, "reeld refused this worker", {{"error", connected.status()}});
    return 1;
  }
  WorkerLink& link = **connected;
  OpenPlugins(flags, *opened, link);
  LimitMemoryTo(*opened, link.settings());

  const auto timer = kernels::TimerFor(*opened);
  Engine engine(EngineOptionsOf(*opened, link.settings(), options.device, timer.get(),
                                EnergyReaderFor(bus_ids)),
                catalog, link);
  EngineTarget target(engine);
  for (const model::LoadOptions& load : link.settings().models) engine.Post(LoadModel{load, 0});
  link.Serve(target, {.on_broken =
                          [&] {
                            Log(LogLevel::kWarning,
                                "The connection to reeld is lost; the worker exits");
                            engine.Stop();
                          },
                      .on_device_lost =
                          [&](const absl::Status& error) {
                            const bool gone = kernels::IsDeviceGone(error);
                            Log(LogLevel::kError,
                                gone ? "The device needs a reset; the worker exits"
                                     : "The device failed; the worker exits",
                                {{"error", error}});
                            link.Leave(kHastyGoodbye);
                            // No destructor may touch a dead device.
                            _exit(gone ? kDeviceGoneStatus : kDeviceLostStatus);
                          }});
  engine.Run();
  link.Leave(kGoodbye);
  return 0;
}

}  // namespace reel::worker
