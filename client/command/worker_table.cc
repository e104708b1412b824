// SPDX-License-Identifier: Apache-2.0
#include "client/command/worker_table.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/command/quantity.h"
#include "client/command/text_table.h"
#include "client/command/video_text.h"

namespace reel::client {
namespace {

// "19 GB of 141 GB, 12 GB by tensors, at most 15 GB": the rest is cached or belongs to other
// processes.
std::string MemoryOf(const v1::Worker& worker) {
  if (worker.memory_total_bytes() == 0) return "-";
  std::string text = absl::StrCat(HumanBytes(worker.memory_used_bytes()), " of ",
                                  HumanBytes(worker.memory_total_bytes()));
  if (worker.memory_peak_bytes() > 0) {
    absl::StrAppend(&text, ", ", HumanBytes(worker.memory_allocated_bytes()),
                    " by tensors, at most ", HumanBytes(worker.memory_peak_bytes()));
  }
  return text;
}

// Speed of copies from the host's memory to the device; "-" for a CPU.
std::string LinkOf(const v1::Worker& worker) {
  if (worker.copy_bytes_per_second() == 0) return "-";
  return absl::StrCat(HumanBytes(worker.copy_bytes_per_second()), "/s");
}

}  // namespace

std::string WorkerTable(const v1::GetServerInfoResponse& info) {
  TextTable table({"WORKER", "STATE", "DEVICE", "MEMORY", "LINK", "RUNNING", "RESTARTS", "MODELS"});
  for (const v1::Worker& worker : info.workers()) {
    table.AddRow({worker.name(), StateName(worker.state()), worker.device(), MemoryOf(worker),
                  LinkOf(worker), absl::StrCat(worker.running()), absl::StrCat(worker.restarts()),
                  absl::StrJoin(worker.models(), ", ")});
  }
  std::string text = table.Render();
  for (const v1::Worker& worker : info.workers()) {
    if (worker.out_reason().empty()) continue;
    absl::StrAppend(&text, "\n", worker.name(), " is out: ", worker.out_reason(), ".\n",
                    "`reel restore ", worker.name(), "` puts it back once that is fixed.\n");
  }
  return text;
}

}  // namespace reel::client
