// SPDX-License-Identifier: Apache-2.0
// Answers of jobs/ as the API's responses.
#pragma once

#include <vector>

#include "reel/v1/video_service.pb.h"
#include "server/front/jobs/job_service.h"

namespace reel::front {

void FileToProto(const UploadedFile& file, v1::UploadedFile& proto);
void EstimateToProto(const CostEstimate& estimate, v1::EstimateVideoResponse& proto);

// `asked`: the call's `count`. Only where it is above 0 all are listed beside the first.
void CreatedToProto(const std::vector<Video>& videos, int asked, v1::CreateVideoResponse& proto);
// What would be made, as Validate has answered.
void ValidatedToProto(const Video& first, int asked, v1::CreateVideoResponse& proto);

// Ends a page early where the next video would make it larger than what may be sent; the token
// says where the next one begins.
void PageToProto(const ListPage& page, const std::vector<VideoState>& filter,
                 v1::ListVideosResponse& proto);

}  // namespace reel::front
