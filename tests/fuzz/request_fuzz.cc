// SPDX-License-Identifier: Apache-2.0
// Any bytes as a request, the first naming its kind: it is refused, or its spec resolves to what
// resolves to itself.
#include <cstdlib>
#include <vector>

#include "model/resolve.h"
#include "model/testcard/test_card.h"
#include "reel/v1/video_service.pb.h"
#include "server/convert/convert.h"
#include "server/front/api/request_convert.h"

namespace {

using reel::front::NewJobFrom;

const std::vector<reel::front::ServedModel>& Models() {
  static const auto* const kModels =
      new std::vector<reel::front::ServedModel>{{.card = reel::model::TestCardModelCard("testcard"),
                                                 .is_default = true,
                                                 .ready = true,
                                                 .problem = ""}};
  return *kModels;
}

void CheckSpec(const reel::model::GenerationSpec& spec) {
  const reel::model::ModelCard& card = Models().front().card;
  const auto once = reel::model::Resolve(spec, card, {}, 7);
  if (!once.ok()) return;
  const auto again = reel::model::Resolve(once.spec, card, {}, 8);
  if (!again.ok() || reel::SpecToProto(again.spec, true).SerializeAsString() !=
                         reel::SpecToProto(once.spec, true).SerializeAsString()) {
    std::abort();
  }
}

template <typename Request>
void CheckJob(const uint8_t* data, int size) {
  Request request;
  if (!request.ParseFromArray(data, size)) return;
  const auto job = NewJobFrom(request, {"tenant", "trace"}, {}, Models());
  if (job.ok()) CheckSpec(job->spec);
}

template <typename Request, typename Convert>
void CheckOther(const uint8_t* data, int size, Convert convert) {
  Request request;
  if (request.ParseFromArray(data, size)) (void)convert(request);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto rest = static_cast<int>(size - 1);
  namespace v1 = reel::v1;
  switch (data[0] % 6) {
    case 0:
      CheckJob<v1::GenerateVideoRequest>(data + 1, rest);
      break;
    case 1:
      CheckJob<v1::CreateVideoRequest>(data + 1, rest);
      break;
    case 2:
      CheckJob<v1::EstimateVideoRequest>(data + 1, rest);
      break;
    case 3:
      CheckOther<v1::ListVideosRequest>(data + 1, rest, [](const auto& request) {
        return reel::front::ListQueryFrom(request, {"tenant", false});
      });
      break;
    case 4:
      CheckOther<v1::WatchVideoRequest>(data + 1, rest, reel::front::WatchPointFrom);
      break;
    default:
      CheckOther<v1::DownloadVideoRequest>(data + 1, rest, reel::front::DownloadRangeFrom);
  }
  return 0;
}
