// SPDX-License-Identifier: Apache-2.0
// Any bytes between reeld and a worker, the first naming the side: nothing is understood, or what
// was understood survives being sent again.
#include <cstdlib>
#include <utility>

#include "server/convert/report_convert.h"
#include "server/convert/worker_convert.h"
#include "server/worker/link/command_reader.h"

namespace {

namespace v1 = reel::worker::v1;

void CheckReport(const uint8_t* data, int size) {
  v1::AttachRequest message;
  if (!message.ParseFromArray(data, size)) return;
  auto report = reel::ReportFromProto(std::move(message));
  if (!report) return;
  if (!reel::ReportFromProto(reel::ReportToProto(*std::move(report)))) std::abort();
}

void CheckCommand(const uint8_t* data, int size) {
  v1::AttachResponse message;
  if (!message.ParseFromArray(data, size)) return;
  if (message.has_configure()) {
    const auto settings = reel::SettingsFromProto(message.configure());
    (void)reel::SettingsToProto(settings);
  }
  reel::worker::CommandReader reader;
  (void)reader.Read(std::move(message));
  // What it kept for job "a" is taken here.
  v1::AttachResponse assign;
  assign.mutable_assign()->set_job("a");
  assign.mutable_assign()->mutable_spec()->add_conditions();
  if (!reader.Read(std::move(assign))) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto rest = static_cast<int>(size - 1);
  if (data[0] % 2 == 0) {
    CheckReport(data + 1, rest);
  } else {
    CheckCommand(data + 1, rest);
  }
  return 0;
}
