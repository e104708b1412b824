// SPDX-License-Identifier: Apache-2.0
// Brings a data folder of the builds before the log into a log: each stored video, request id and
// tombstone becomes messages.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/front/jobs/video.h"
#include "server/front/objects/object_store.h"
#include "server/front/store/data_folder.h"

namespace reel::front {

// What a node needs to know again by: names of its videos, and its own.
struct TakeOverNames {
  std::string replica, node;
};

// Of a folder that has reel.db and no log.db. A copy of reel.db as it was stays beside it as
// reel.db.before-log. log.db appears when it is whole: what is cut short before begins anew. Videos
// that wait or run are left as a killed process leaves them, and pictures of theirs are put into
// `objects`. Blocks; reel.db is open in this process and does not change meanwhile.
absl::Status TakeOverFolder(const DataFolder& folder, const VideoSerializer& serializer,
                            const TakeOverNames& names, ObjectStore& objects);

}  // namespace reel::front
