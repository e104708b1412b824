// SPDX-License-Identifier: Apache-2.0
// The slices of the configuration that the parts of reeld are made with, and the file that tells
// scripts where it listens.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/front/api/request_convert.h"
#include "server/front/app.h"
#include "server/front/fleet/log_connection.h"
#include "server/front/fleet/log_port.h"
#include "server/front/http/door.h"
#include "server/front/http/door_server.h"
#include "server/front/jobs/job_service.h"
#include "server/front/jobs/video.h"
#include "server/front/metrics/metrics.h"
#include "server/front/node/deliveries.h"
#include "server/front/node/fitness.h"
#include "server/front/node/fleet_service.h"
#include "server/front/node/node_options.h"
#include "server/front/objects/object_store.h"
#include "server/front/scheduling/job_options.h"
#include "server/front/store/data_folder.h"
#include "server/front/store/job_store.h"
#include "server/front/store/media_file.h"
#include "server/front/store/media_store.h"
#include "server/front/traces/trace_exporter.h"
#include "server/front/workers/frames_comparer.h"
#include "server/front/workers/launcher.h"
#include "server/front/workers/worker_pool_options.h"

namespace reel::front {

// Of a server that is part of a fleet. The credentials are read now.
absl::StatusOr<FleetLogOptions> MakeFleetLogOptions(const config::v1::ServerConfig& config);
// First part of the names of its videos; empty: the dispatcher draws it. Of a server with a log of
// its own the folder knows it, and is told where it is new.
absl::StatusOr<std::string> NamesOf(const config::v1::ServerConfig& config,
                                    const DataFolder& folder, JobStore& store);
NodeOptions MakeNodeOptions(const AppOptions& app, const DataFolder& folder,
                            const std::string& names);
// Marks a new folder of a server that is alone. In a fleet the log of one that was alone is set
// aside.
absl::Status PrepareFolder(const config::v1::ServerConfig& config, const DataFolder& folder);
// Brings a folder without a log into one where the server has one: see TakeOverFolder.
absl::Status TakeOverIfOld(const config::v1::ServerConfig& config, const DataFolder& folder,
                           const VideoSerializer& serializer, const std::string& names,
                           ObjectStore* objects);
// Null where none is configured. Refuses credentials and buckets that are wrong; a store that is
// away is only told of. `ops` outlives it.
absl::StatusOr<std::unique_ptr<ObjectStore>> OpenObjectStore(const config::v1::ServerConfig& config,
                                                             const DataFolder& folder,
                                                             FileOps& ops);
// `objects`, which may be null and else outlives what is made with them, has bytes in the folder.
MediaStoreOptions MakeMediaOptions(const config::v1::Data& data, const DataFolder& folder,
                                   const ObjectStore* objects);
// Both outlive it; `objects` may be null.
SharedStore MakeSharedStore(const config::v1::ServerConfig& config, ObjectStore* objects,
                            const MediaStore& media);
// The log that the server's videos are in; the service outlives it.
absl::StatusOr<std::unique_ptr<LogPort>> OpenLog(const config::v1::ServerConfig& config,
                                                 FleetService& service);

// Both outlive what it is given to.
DiskProbe MakeDiskProbe(const std::string& folder, const MediaStore& media);

// As ListModels tells them, a line each.
std::string ProblemsOf(const std::vector<ServedModel>& models);

JobOptions MakeJobOptions(const AppOptions& app, const std::string& names);
WorkerPoolOptions MakePoolOptions(const AppOptions& app);
// Missing where no experiment has shadow renders, or the program is not there, which the log tells.
std::unique_ptr<FramesComparer> MakeFramesComparer(const AppOptions& app);
ProcessLauncherOptions MakeLauncherOptions(const AppOptions& app);
absl::Status CheckWorkerProgram(const ProcessLauncherOptions& launcher);
MetricsOptions MakeMetricsOptions(const AppOptions& app);
TraceExporterOptions MakeTraceOptions(const AppOptions& app);
// The longest that a call may be open.
absl::Duration LongestCall(const config::v1::ServerConfig& config);
RequestRules MakeRules(const config::v1::ServerConfig& config);
DoorOptions MakeDoorOptions(const config::v1::Http& http);
DoorLimits MakeDoorLimits(const config::v1::ServerConfig& config);

// A line of the file of bound addresses; nothing of what is not there.
std::string AddressLine(const std::string& name, const std::string& address);

// Writes that file; readers never see half of it.
absl::Status WritePortFile(const std::string& path, const std::string& text);

}  // namespace reel::front
