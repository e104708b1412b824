// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/logged_videos.h"

#include "kernels/base/status_macros.h"

namespace reel::front {

absl::StatusOr<Video> LoggedVideos::Read(const Key& key, const std::string& bytes) const {
  if (!Seal::IsSealed(bytes)) return serializer_.Parse(bytes);
  REEL_ASSIGN_OR_RETURN(const std::string opened, seal_.Open(bytes, NameOf(key)));
  return serializer_.Parse(opened);
}

}  // namespace reel::front
