// SPDX-License-Identifier: Apache-2.0
// Errors about a request's conditions, under the names of the OpenAI facade's fields that they were
// sent in.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "model/generation_spec.h"
#include "reel/v1/video.pb.h"

namespace reel::front {

// The fields that a request's conditions were sent in, in order.
using ConditionFields = std::vector<std::string>;
ConditionFields FieldsOf(const v1::VideoSpec& spec);
ConditionFields FieldsOf(const model::GenerationSpec& spec);

// The same error with these names in place of paths such as "spec.conditions[0].video".
absl::Status AsSent(const absl::Status& error, const ConditionFields& fields);

}  // namespace reel::front
