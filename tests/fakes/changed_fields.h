// SPDX-License-Identifier: Apache-2.0
// Every field of a message changed, one at a time: for tests that nothing is accepted and ignored.
// By reflection, so that a field which is added is among them without a line anywhere.
#pragma once

#include <google/protobuf/message.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace reel::testing {

using Copies = std::vector<std::unique_ptr<google::protobuf::Message>>;

// By path without indices ("workers.device"): copies of `base` that differ from it in that field
// alone, each with another value; of a repeated message one for each element. What `base` has not
// is added first: a message inside it, an element (whose path is that of the list). Of a oneof only
// the member that is set is changed.
std::map<std::string, Copies> EachFieldChanged(const google::protobuf::Message& base);

}  // namespace reel::testing
