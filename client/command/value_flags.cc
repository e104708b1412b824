// SPDX-License-Identifier: Apache-2.0
#include "client/command/value_flags.h"

#include <vector>

#include "client/command/quantity.h"

namespace reel::client {

void AddPairs(CLI::App& command, const std::string& flag, std::map<std::string, std::string>& pairs,
              const std::string& type, const std::string& help) {
  command
      .add_option_function<std::vector<std::string>>(
          flag,
          [&pairs, flag](const std::vector<std::string>& values) {
            for (const std::string& value : values) {
              const size_t equals = value.find('=');
              if (equals == 0 || equals == std::string::npos) {
                throw CLI::ValidationError(flag, "\"" + value + "\" is not NAME=VALUE");
              }
              pairs[value.substr(0, equals)] = value.substr(equals + 1);
            }
          },
          help)
      ->type_name(type)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void AddDuration(CLI::App& command, const std::string& flag, std::optional<absl::Duration>& value,
                 const std::string& help) {
  command
      .add_option_function<std::string>(
          flag,
          [&value, flag](const std::string& text) {
            const auto duration = ParseDuration(text);
            if (!duration.ok()) {
              throw CLI::ValidationError(flag, std::string(duration.status().message()));
            }
            value = *duration;
          },
          help)
      ->type_name("TIME");
}

}  // namespace reel::client
