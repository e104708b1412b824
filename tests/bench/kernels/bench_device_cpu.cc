// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

#include "kernels/base/status_macros.h"
#include "kernels/built_in_catalog.h"
#include "tests/bench/kernels/bench_device.h"

namespace reel::kernels {
namespace {

using Clock = std::chrono::steady_clock;

double MicrosecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

class CpuCalls : public TimedCalls {
 public:
  explicit CpuCalls(const std::vector<BenchCall>& calls) : calls_(calls) {}

  // Whole turns for a millisecond.
  absl::StatusOr<double> Sample() override {
    const auto start = Clock::now();
    double elapsed = 0;
    int64_t turns = 0;
    do {
      for (const BenchCall& call : calls_) REEL_RETURN_IF_ERROR(call());
      ++turns;
      elapsed = MicrosecondsSince(start);
    } while (elapsed < 1000);
    return elapsed / static_cast<double>(turns * static_cast<int64_t>(calls_.size()));
  }

 private:
  std::vector<BenchCall> calls_;
};

class CpuBench : public BenchDevice {
 public:
  const KernelCatalog& catalog() const override { return catalog_; }
  DeviceStream stream() const override { return {}; }
  nlohmann::json Describe() const override {
    return {{"device", "cpu"}, {"clock", "host"}, {"threads", 1}, {"cache_bytes", cache_bytes()}};
  }
  int64_t cache_bytes() const override {
    return std::max<int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE));
  }

  absl::StatusOr<void*> Allocate(int64_t bytes) override {
    memory_.push_back(std::make_unique<unsigned char[]>(static_cast<size_t>(bytes + 256)));
    const auto address = reinterpret_cast<uintptr_t>(memory_.back().get());
    return memory_.back().get() + (256 - address % 256);
  }
  void Release() override { memory_.clear(); }
  absl::Status Write(void* to, const void* host, int64_t bytes) override {
    return Copy("memcpy", to, host, bytes);
  }
  absl::Status Read(void* host, const void* from, int64_t bytes) override {
    return Copy("memcpy", host, from, bytes);
  }
  absl::Status Move(void* to, const void* from, int64_t bytes) override {
    return Copy("memcpy", to, from, bytes);
  }
  std::vector<std::string> copies() const override { return {"memcpy"}; }
  absl::Status Copy(const std::string&, void* to, const void* from, int64_t bytes) override {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    asm volatile("" : : "r"(to) : "memory");
    return absl::OkStatus();
  }
  absl::StatusOr<std::unique_ptr<TimedCalls>> Prepare(
      const std::vector<BenchCall>& calls) override {
    auto prepared = std::make_unique<CpuCalls>(calls);
    REEL_RETURN_IF_ERROR(prepared->Sample().status());  // warm
    return prepared;
  }

 private:
  KernelCatalog catalog_ = BuiltInCatalog();
  std::vector<std::unique_ptr<unsigned char[]>> memory_;
};

}  // namespace

std::unique_ptr<BenchDevice> MakeCpuBench() { return std::make_unique<CpuBench>(); }

}  // namespace reel::kernels
