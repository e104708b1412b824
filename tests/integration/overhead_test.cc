// SPDX-License-Identifier: Apache-2.0
// The time that reeld adds to a video, against reel-render with the same request.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

constexpr int kPairs = 7;

struct OverheadCase {
  std::string config;
  std::vector<std::string> model_flags;  // of reel-render
  v1::VideoSpec spec;
};

// Of what `--timings` prints: "total   1.234 s".
absl::Duration TimingOf(const std::string& text, const std::string& name) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    double value = 0;
    if (words.size() < 3 || words[0] != name || !absl::SimpleAtod(words[1], &value)) continue;
    return words[2] == "ms" ? absl::Milliseconds(value) : absl::Seconds(value);
  }
  ADD_FAILURE() << "no line of " << name << " in:\n" << text;
  return absl::ZeroDuration();
}

// A video, from the request to the whole file.
struct Rendered {
  absl::Duration whole;
  absl::Duration work;  // of the device: text, steps, frames
};

Rendered RenderAlone(const OverheadCase& made, const testing::TempFolder& folder) {
  std::vector<std::string> arguments = {
      "--prompt",          made.spec.prompt(),
      "--width",           absl::StrCat(made.spec.width()),
      "--height",          absl::StrCat(made.spec.height()),
      "--num-frames",      absl::StrCat(made.spec.num_frames()),
      "--steps",           absl::StrCat(made.spec.num_inference_steps()),
      "--timings",         "--output",
      folder.File("a.mp4")};
  arguments.insert(arguments.end(), made.model_flags.begin(), made.model_flags.end());
  const ProgramResult done = RunProgram(BinaryPath("reel-render"), arguments);
  EXPECT_EQ(done.status, 0) << done.errors;
  const auto of = [&](const char* name) { return TimingOf(done.errors, name); };
  return {of("total") - of("load"), of("text") + of("denoise") + of("decode")};
}

Rendered RenderServed(Calls& calls, const v1::VideoSpec& spec) {
  const absl::Time start = absl::Now();
  const StreamResult result = calls.Generate(spec);
  EXPECT_TRUE(result.is_finished) << result.status.error_message();
  const absl::Duration whole = absl::Now() - start;
  const v1::RunStats& stats = result.finished.stats();
  absl::Duration work;
  for (const auto& part : {stats.text_encode(), stats.denoise(), stats.decode()}) {
    work += absl::Seconds(part.seconds()) + absl::Nanoseconds(part.nanos());
  }
  return {whole, work};
}

absl::Duration MedianOf(std::vector<absl::Duration> times) {
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
}

// The bound is on what surrounds the work. The work itself varies by more from run to run, and
// between a new process and one that has run for a while.
void ExpectSmallOverhead(const std::string& name, const OverheadCase& made) {
  const testing::TempFolder folder;
  // As reeld sets it for its workers: on a busy machine threads that spin at barriers would decide.
  ::setenv("GOMP_SPINCOUNT", "1000", 0);
  ReelServer server({made.config, {}, "", true});
  Calls calls(server.Connect());
  RenderServed(calls, made.spec);
  std::vector<absl::Duration> alone, served, around;
  for (int pair = 0; pair < kPairs; ++pair) {
    const Rendered one = RenderAlone(made, folder), other = RenderServed(calls, made.spec);
    alone.push_back(one.whole);
    served.push_back(other.whole);
    around.push_back((other.whole - other.work) - (one.whole - one.work));
  }
  const absl::Duration base = MedianOf(alone), over = MedianOf(around);
  std::cout << "FIGURE " << name << ": " << base << " by reel-render, " << MedianOf(served)
            << " by reeld, of the difference " << over << " ("
            << 100 * absl::FDivDuration(over, base) << " %) around the work; medians of " << kPairs
            << " pairs\n";
  EXPECT_LE(over, std::max(absl::Milliseconds(20), base * 0.01));
}

TEST(Overhead, OfTheTestCardIsSmall) {
  v1::VideoSpec spec = SmallSpec("fox");
  spec.set_num_inference_steps(40);
  ExpectSmallOverhead("test card", {"", {"--model", "testcard"}, spec});
}

TEST(Overhead, OfADemoVideoIsSmall) {
  const std::string model = std::string(std::getenv("REEL_SOURCE")) + "/model/demo/weights";
  const testing::TempFolder folder;
  const ProgramResult tried = RunProgram(
      BinaryPath("reel-render"),
      {"--model", model, "--prompt", "x", "--steps", "1", "--output", folder.File("x.mp4")});
  if (tried.errors.find("no libtorch") != std::string::npos) {
    GTEST_SKIP() << "this build has no libtorch";
  }
  v1::VideoSpec spec = SmallSpec("a red circle");
  spec.set_width(128);
  spec.set_height(128);
  spec.set_num_inference_steps(8);
  ExpectSmallOverhead("ltx-demo",
                      {absl::StrCat("models { name: 'demo' path: '", model, "' dtype: 'fp32' }"),
                       {"--model", model, "--dtype", "fp32"},
                       spec});
}
}  // namespace
}  // namespace reel::tests
