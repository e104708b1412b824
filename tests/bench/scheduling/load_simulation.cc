// SPDX-License-Identifier: Apache-2.0
// Plays random videos of three tenants on two kinds of devices, at several loads, by the plan and
// in order of arrival. Then as if they were one tenant's. Prints a JSON list of figures.
#include <algorithm>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/unit/server/front/scheduling/simulator.h"

namespace reel::front {
namespace {

constexpr double kLoads[] = {0.25, 0.5, 0.75, 0.9, 1, 1.25, 1.5, 2};
constexpr int kVideos = 600, kSeeds = 5;
constexpr double kShort = 2, kLong = 20, kLongShare = 0.25;  // runs on a single device, in seconds
constexpr double kPool = 4;  // of single devices: two, and a group that is twice as fast

struct Tally {
  int asked = 0, refused = 0, in_time = 0, late = 0;
  std::vector<double> short_waits, long_waits, flood_waits, other_waits;  // seconds

  void Add(const std::string& id, const SimulatedEnd& end) {
    ++asked;
    refused += end.refused ? 1 : 0;
    in_time += end.in_time ? 1 : 0;
    late += end.refused || end.in_time ? 0 : 1;
    if (end.began == absl::InfiniteDuration()) return;
    const double wait = absl::ToDoubleSeconds(end.began - end.came);
    (id.front() == 's' ? short_waits : long_waits).push_back(wait);
    (id.back() == 'f' ? flood_waits : other_waits).push_back(wait);
  }
};

double Percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

struct Mode {
  const char* name;
  bool fifo = false, one_tenant = false;
};

constexpr Mode kModes[] = {{"plan"}, {"fifo", true}, {"plan, one tenant", false, true}};

// Six of ten videos are one tenant's. Each has three to twelve of its runs, and 5 s.
void Play(const Mode& mode, double load, unsigned seed, Tally& tally) {
  std::mt19937 random(seed);
  const auto draw = [&](double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random);
  };
  JobOptions options;
  options.fifo = mode.fifo;
  Simulator sim(options);
  for (const char* name : {"a", "b"}) sim.AddWorker(name, "cuda:2 H");
  sim.AddWorker("group", "cuda:0+cuda:1 2 x H", 2);
  sim.SetNoise(0.1);
  const double mean = kLongShare * kLong + (1 - kLongShare) * kShort;
  std::exponential_distribution<double> pause(load * kPool / mean);
  for (int i = 0; i < kVideos; ++i) {
    sim.RunUntil(sim.now() + absl::Seconds(pause(random)));
    const bool is_long = draw(0, 1) < kLongShare;
    const double run = is_long ? kLong : kShort, whose = draw(0, 1);
    const char* tenant = mode.one_tenant || whose < 0.6 ? "flood" : whose < 0.8 ? "b" : "c";
    sim.Submit({.id = absl::StrCat(is_long ? "long" : "short", i, whose < 0.6 ? "f" : "o"),
                .tenant = tenant,
                .step_seconds = run / 10,
                .timeout = absl::Seconds(run * draw(3, 12) + 5)});
  }
  sim.Run();
  for (const auto& [id, end] : sim.ends()) tally.Add(id, end);
}

void Run() {
  const char* separator = "[\n";
  for (const Mode& mode : kModes) {
    for (const double load : kLoads) {
      Tally tally;
      for (unsigned seed = 1; seed <= kSeeds; ++seed) Play(mode, load, seed, tally);
      const auto percent = [&](int part, int all) { return 100.0 * part / std::max(1, all); };
      std::cout << separator << "{\"order\": \"" << mode.name << "\", \"load\": " << load
                << ", \"in_time\": " << percent(tally.in_time, tally.asked)
                << ", \"refused\": " << percent(tally.refused, tally.asked)
                << ", \"late\": " << percent(tally.late, tally.asked - tally.refused)
                << ", \"short_p50\": " << Percentile(tally.short_waits, 0.5)
                << ", \"short_p90\": " << Percentile(tally.short_waits, 0.9)
                << ", \"long_p90\": " << Percentile(tally.long_waits, 0.9)
                << ", \"flood_p90\": " << Percentile(tally.flood_waits, 0.9)
                << ", \"other_p90\": " << Percentile(tally.other_waits, 0.9) << "}";
      separator = ",\n";
    }
  }
  std::cout << "\n]\n";
}

}  // namespace
}  // namespace reel::front

int main() {
  reel::front::Run();
  return 0;
}
