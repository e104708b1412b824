// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/load_config.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/front/config/adapter_files.h"
#include "server/front/config/config_checks.h"
#include "server/front/config/config_text.h"
#include "server/front/config/named_parts.h"
#include "server/front/config/read_file.h"
#include "server/front/config/seal_key_file.h"

namespace reel::front {
namespace {

std::string Text(const absl::Status& status) { return std::string(status.message()); }

void ReadConfigFile(const std::string& path, config::v1::ServerConfig& config,
                    std::vector<std::string>& problems) {
  auto text = ReadSmallFile(path);
  if (!text.ok()) {
    problems.push_back(absl::StrCat("--config: ", Text(text.status())));
    return;
  }
  for (const std::string& problem : ParseConfigText(*text, config)) {
    problems.push_back(absl::StrCat(path, ":", problem));
  }
}

void Append(std::vector<std::string> more, std::vector<std::string>& all) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

void ReadPromptKeys(const std::string& file, LoadedConfig& out) {
  if (file.empty()) return;
  auto keys = ReadSealKeys(file);
  if (keys.ok()) {
    out.prompt_keys = *std::move(keys);
  } else {
    out.problems.push_back(absl::StrCat("fleet.encrypt_prompts_key_file: ", Text(keys.status())));
  }
}

}  // namespace

LoadedConfig LoadConfig(const Flags& flags, const Surroundings& surroundings) {
  LoadedConfig loaded;
  config::v1::ServerConfig& config = loaded.config;
  if (!flags.config_file.empty()) ReadConfigFile(flags.config_file, config, loaded.problems);
  Append(ApplyFlags(flags, surroundings, config), loaded.problems);
  const bool models_are_chosen = !config.models().empty();
  FillDefaults(surroundings, config);
  ConfigFindings findings = CheckConfig(config);
  Append(std::move(findings.problems), loaded.problems);
  loaded.warnings = std::move(findings.warnings);
  if (!models_are_chosen && !config.models().empty() && config.models(0).has_test_card()) {
    loaded.warnings.push_back(
        "no model is configured and ltx-demo is not installed: serving the test card, which draws "
        "a pattern, not the prompt");
  }
  loaded.effective = ConfigForLog(config);
  Append(MissingParts(config, surroundings.cuda_library), loaded.problems);
  Append(WrongSecrets(config), loaded.problems);
  Append(ResolveAdapters(config), loaded.problems);
  ReadPromptKeys(config.fleet().encrypt_prompts_key_file(), loaded);
  if (!config.auth().tokens_file().empty()) {
    auto tokens = TokenTable::Load(config.auth().tokens_file());
    if (tokens.ok()) {
      loaded.tokens = *std::move(tokens);
    } else {
      loaded.problems.push_back(absl::StrCat("auth.tokens_file: ", Text(tokens.status())));
    }
  }
  return loaded;
}

}  // namespace reel::front
