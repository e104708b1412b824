// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/load_options.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "reel/config/v1/config.pb.h"
#include "server/front/config/config_text.h"
#include "server/front/config/key_pair_file.h"
#include "server/front/config/named_parts.h"
#include "server/front/config/nats_options.h"
#include "server/front/config/read_file.h"
#include "server/front/config/seal_key_file.h"
#include "server/front/config/secret_file.h"
#include "server/front/config/tls_files.h"

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

void CheckTlsFiles(const TlsOptions& tls, std::vector<std::string>& problems) {
  TlsFiles files;
  for (std::string& problem : ReadTlsFiles(tls, files)) problems.push_back(std::move(problem));
  if (files.key.empty()) return;
  const absl::Status mode = CheckSecretFile(tls.key_file);
  if (!mode.ok()) problems.push_back(absl::StrCat("tls.key_file: ", Text(mode)));
}

// Where one is named.
void CheckKeyPair(const char* key, const std::string& file, std::vector<std::string>& problems) {
  if (file.empty()) return;
  const auto pair = ReadKeyPair(file);
  if (!pair.ok()) problems.push_back(absl::StrCat(key, ": ", Text(pair.status())));
}

void ReadPromptKeys(const std::string& file, LoadedOptions& out) {
  if (file.empty()) return;
  auto keys = ReadSealKeys(file);
  if (keys.ok()) {
    out.prompt_keys = *std::move(keys);
  } else {
    out.problems.push_back(absl::StrCat("fleet.encrypt_prompts_key_file: ", Text(keys.status())));
  }
}

}  // namespace

LoadedOptions LoadOptions(const Flags& flags, const Surroundings& surroundings) {
  LoadedOptions loaded;
  config::v1::ServerConfig config;
  if (!flags.config_file.empty()) ReadConfigFile(flags.config_file, config, loaded.problems);
  for (std::string& problem : ApplyFlags(flags, surroundings, config)) {
    loaded.problems.push_back(std::move(problem));
  }
  const bool models_are_chosen = !config.models().empty();
  FillDefaults(surroundings, config);
  CheckedOptions checked = MakeServerOptions(config);
  if (!models_are_chosen && !config.models().empty() && config.models(0).has_test_card()) {
    checked.options.warnings.push_back(
        "no model is configured and ltx-demo is not installed: serving the test card, which draws "
        "a pattern, not the prompt");
  }
  loaded.problems.insert(loaded.problems.end(), checked.problems.begin(), checked.problems.end());
  loaded.options = std::move(checked.options);
  loaded.effective = ConfigForLog(config);
  for (std::string& problem : MissingParts(loaded.options, surroundings.cuda_library)) {
    loaded.problems.push_back(std::move(problem));
  }
  CheckTlsFiles(loaded.options.tls, loaded.problems);
  const FleetOptions& fleet = loaded.options.fleet;
  for (std::string& problem : CheckNatsFiles(fleet.nats)) {
    loaded.problems.push_back(std::move(problem));
  }
  CheckKeyPair("fleet.objects.credentials_file", fleet.objects.credentials_file, loaded.problems);
  ReadPromptKeys(fleet.encrypt_prompts_key_file, loaded);
  if (!loaded.options.auth.tokens_file.empty()) {
    auto tokens = TokenTable::Load(loaded.options.auth.tokens_file);
    if (tokens.ok()) {
      loaded.tokens = *std::move(tokens);
    } else {
      loaded.problems.push_back(absl::StrCat("auth.tokens_file: ", Text(tokens.status())));
    }
  }
  return loaded;
}

}  // namespace reel::front
