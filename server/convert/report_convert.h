// SPDX-License-Identifier: Apache-2.0
// Converts assignments and reports to the messages between reeld and its workers, and back: for
// front/workers and worker/link.
#pragma once

#include <optional>

#include "reel/worker/v1/worker.pb.h"
#include "server/protocol/assignment.h"
#include "server/protocol/worker_report.h"

namespace reel {

// Without the bytes of conditions, which are sent separately, and without the worker's name, which
// the stream implies. Consumes the report: media is moved, not copied.
worker::v1::AttachRequest ReportToProto(WorkerReport report);
// Nullopt for any other message: Hello, a heartbeat, or one that this build does not know.
std::optional<WorkerReport> ReportFromProto(worker::v1::AttachRequest message);

worker::v1::Assign AssignmentToProto(const Assignment& assignment);
Assignment AssignmentFromProto(const worker::v1::Assign& proto);

}  // namespace reel
