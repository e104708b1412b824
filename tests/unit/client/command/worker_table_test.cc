// SPDX-License-Identifier: Apache-2.0
#include "client/command/worker_table.h"

#include <gtest/gtest.h>

#include <string>

namespace reel::client {
namespace {

TEST(WorkerTable, HasARowForEachWorkerAndSaysWhereTheMemoryIsUnknown) {
  v1::GetServerInfoResponse info;
  v1::Worker& gpu = *info.add_workers();
  gpu.set_name("gpu0");
  gpu.set_state(v1::WORKER_STATE_READY);
  gpu.set_device("cuda:0");
  gpu.set_memory_total_bytes(2'000'000'000);
  gpu.set_memory_used_bytes(500'000'000);
  gpu.set_memory_allocated_bytes(300'000'000);
  gpu.set_memory_peak_bytes(400'000'000);
  gpu.set_copy_bytes_per_second(55'000'000'000);
  gpu.set_running(3);
  gpu.add_models("a");
  gpu.add_models("b");
  v1::Worker& cpu = *info.add_workers();
  cpu.set_name("cpu0");
  cpu.set_restarts(2);
  EXPECT_EQ(WorkerTable(info),
            "WORKER  STATE        DEVICE  MEMORY                                              "
            " LINK     RUNNING  RESTARTS  MODELS\n"
            "gpu0    ready        cuda:0  500 MB of 2.0 GB, 300 MB by tensors, at most 400 MB"
            "  55 GB/s  3        0         a, b\n"
            "cpu0    unspecified          -                                                   "
            " -        0        2\n");
}

TEST(WorkerTable, SaysWhyAWorkerIsOutAndWhatPutsItBack) {
  v1::GetServerInfoResponse info;
  v1::Worker& gpu = *info.add_workers();
  gpu.set_name("gpu0");
  gpu.set_state(v1::WORKER_STATE_OUT);
  gpu.set_out_reason("The device is gone");
  const std::string text = WorkerTable(info);
  EXPECT_NE(text.find("gpu0 is out: The device is gone.\n"), std::string::npos) << text;
  EXPECT_NE(text.find("`reel restore gpu0`"), std::string::npos) << text;
}

}  // namespace
}  // namespace reel::client
