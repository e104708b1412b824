// SPDX-License-Identifier: Apache-2.0
// Reads and checks the configuration of the brokers that have a fleet's log.
#pragma once

#include <string>
#include <vector>

#include "server/front/config/option_reader.h"
#include "server/front/config/server_options.h"

namespace reel::config::v1 {
class Nats;
}

namespace reel::front {

// Of a configuration that has a fleet.
NatsOptions ReadNats(const config::v1::Nats& nats, OptionReader& reader);

// What is wrong with the files that it names: what is missing, open to others, or not what it
// should hold. Each problem has the key of the configuration in front.
std::vector<std::string> CheckNatsFiles(const NatsOptions& nats);

}  // namespace reel::front
