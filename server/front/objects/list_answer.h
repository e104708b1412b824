// SPDX-License-Identifier: Apache-2.0
// Reads an object store's XML answers, as far as they are needed. Hostile text gives an error or
// less.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/front/objects/object_store.h"

namespace reel::front {

// What the first element of that name has, if it is text; entities stay as they are.
std::optional<std::string> TextOf(std::string_view xml, std::string_view name);

// Of ListObjectsV2. Objects whose keys are not legal are left out: they are nobody's here.
absl::StatusOr<ObjectPage> ReadListAnswer(std::string_view xml);

}  // namespace reel::front
