// SPDX-License-Identifier: Apache-2.0
#include "server/front/kernel_log/gpu_errors.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "kernels/base/mutex.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

TEST(GpuErrorLines, TellOfEachErrorOfAGpuOnceAMinute) {
  GpuErrorLines lines;
  const absl::Time now = absl::FromUnixSeconds(1'000'000);
  const Xid lost{"0000:3b:00", 79, ""}, other_gpu{"0000:5e:00", 79, ""},
      other{"0000:3b:00", 94, ""};
  EXPECT_TRUE(lines.Take(lost, now));
  EXPECT_FALSE(lines.Take(lost, now + absl::Seconds(59)));
  EXPECT_TRUE(lines.Take(other_gpu, now + absl::Seconds(59)));
  EXPECT_TRUE(lines.Take(other, now + absl::Seconds(59)));
  EXPECT_TRUE(lines.Take(lost, now + absl::Seconds(60)));
}

TEST(GpuErrors, AreCountedByClassAmongWhatElseTheKernelSays) {
  reel::testing::TempFolder folder;
  const std::string path = folder.Write("kern.log", "NVRM: Xid (PCI:0000:3b:00): 79, of old\n");
  Mutex mutex;
  CondVar changed;
  std::map<XidClass, int> counts;
  const auto watch = WatchGpuErrors(path, [&](XidClass what, int count) {
    MutexLock lock(mutex);
    counts[what] += count;
    changed.NotifyAll();
  });
  ASSERT_NE(watch, nullptr);
  {
    MutexLock lock(mutex);
    EXPECT_EQ(counts.size(), kXidClasses.size()) << "all from the start, with nothing";
  }
  std::ofstream(path, std::ios::app) << "6,1,1,-;eth0: link up\n"
                                     << "3,2,2,-;NVRM: Xid (PCI:0000:3b:00): 94, contained\n"
                                     << "3,3,2,-;NVRM: Xid (PCI:0000:3b:00): 94, contained\n"
                                     << "3,4,3,-;NVRM: Xid (PCI:0000:3b:00): 43, pid=1\n";
  MutexLock lock(mutex);
  while (counts[XidClass::kProgram] == 0) changed.Wait(mutex);
  EXPECT_EQ(counts[XidClass::kMemory], 2);
  EXPECT_EQ(counts[XidClass::kProgram], 1);
  EXPECT_EQ(counts[XidClass::kLink] + counts[XidClass::kDevice], 0);
}

TEST(GpuErrors, AreNotToldWhereTheLogCannotBeRead) {
  int counted = 0;
  EXPECT_EQ(WatchGpuErrors("/nonexistent/kmsg", [&](XidClass, int) { ++counted; }), nullptr);
  EXPECT_EQ(counted, 0);
}

}  // namespace
}  // namespace reel::front
