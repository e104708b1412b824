// SPDX-License-Identifier: Apache-2.0
#include "server/front/kernel_log/xid.h"

#include <gtest/gtest.h>

#include <string>

namespace reel::front {
namespace {

TEST(Xid, IsReadAsTheKernelAndItsDaemonsWriteIt) {
  const auto lost = ReadXid(
      "3,1044,8817263,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=1412, name=reel-worker, GPU has fallen "
      "off the bus.\n");
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->bus_id, "0000:3b:00");
  EXPECT_EQ(lost->number, 79);
  EXPECT_EQ(lost->text, "pid=1412, name=reel-worker, GPU has fallen off the bus.");
  const auto logged =
      ReadXid("Nov 30 17:00:01 a kernel: [812.3] NVRM: Xid (PCI:0000:cb:00): 13, x");
  ASSERT_TRUE(logged);
  EXPECT_EQ(logged->number, 13);
}

TEST(Xid, OfASliceIsOfItsGpu) {
  const auto xid = ReadXid("NVRM: Xid (PCI:0000:b3:00 GPU-I:05): 31, pid=9, MMU Fault");
  ASSERT_TRUE(xid);
  EXPECT_EQ(xid->bus_id, "0000:b3:00");
  EXPECT_EQ(xid->number, 31);
}

TEST(Xid, IsNotWhatOnlyLooksLikeOne) {
  for (const char* const line :
       {"", "NVRM: loading", "NVRM: Xid (PCI:", "NVRM: Xid (PCI:0000:3b:00)",
        "NVRM: Xid (PCI:): 79", "NVRM: Xid (PCI:0000:3b:00): ", "NVRM: Xid (PCI:0000:3b:00): seven",
        "NVRM: Xid (PCI:0000:3b:00): -7, x", "NVRM: Xid (PCI:0000:3b:00): 99999999999999, x",
        "NVRM: Xid (PCI:../../../etc): 79, x", "NVRM: Xid (PCI:00000000000000000:3b:00): 79, x"}) {
    EXPECT_FALSE(ReadXid(line)) << line;
  }
}

TEST(Xid, KeepsLittleOfALongLine) {
  const auto xid = ReadXid("NVRM: Xid (PCI:0000:3b:00): 62, " + std::string(100'000, 'x'));
  ASSERT_TRUE(xid);
  EXPECT_EQ(xid->text.size(), 200U);
}

TEST(Xid, HasAClassThatSaysWhatToDo) {
  const auto named = [](int number) { return NameOf(Xid{"", number, ""}.what()); };
  EXPECT_EQ(named(13), "program");
  EXPECT_EQ(named(31), "program");
  EXPECT_EQ(named(94), "memory");
  EXPECT_EQ(named(63), "memory");
  EXPECT_EQ(named(74), "link");
  EXPECT_EQ(named(79), "device");
  EXPECT_EQ(named(119), "device");
  EXPECT_EQ(named(4321), "device") << "what is not known is not taken lightly";
}

}  // namespace
}  // namespace reel::front
