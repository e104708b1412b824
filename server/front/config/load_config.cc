// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/load_config.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/program/nearest_name.h"
#include "reel/config/v1/config.pb.h"
#include "server/front/config/config_checks.h"
#include "server/front/config/named_parts.h"
#include "server/front/config/secret_files.h"

namespace reel::front {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::TextFormat;

std::string Between(const std::string& text, std::string_view before, char after) {
  size_t start = text.find(before);
  if (start == std::string::npos) return "";
  start += before.size();
  const size_t end = text.find(after, start);
  return end == std::string::npos ? "" : text.substr(start, end - start);
}

// The parser says: Message type "reel.config.v1.Data" has no field named "foldr".
std::string Explained(const std::string& message) {
  const std::string type = Between(message, "Message type \"", '"');
  const std::string field = Between(message, "has no field named \"", '"');
  const Descriptor* descriptor = DescriptorPool::generated_pool()->FindMessageTypeByName(type);
  if (field.empty() || descriptor == nullptr) return message;
  std::vector<std::string> names;
  for (int i = 0; i < descriptor->field_count(); ++i) names.push_back(descriptor->field(i)->name());
  const std::string nearest = NearestName(field, names);
  std::string text = absl::StrCat("unknown field '", field, "'");
  if (!nearest.empty()) absl::StrAppend(&text, "; the nearest known one is '", nearest, "'");
  return text;
}

class Problems final : public google::protobuf::io::ErrorCollector {
 public:
  explicit Problems(std::vector<std::string>& out) : out_(out) {}
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    Add(line, column, message);
  }
  // Unknown fields come as warnings, so that the parser goes on and finds all of them.
  void AddWarning(int line, google::protobuf::io::ColumnNumber column,
                  const std::string& message) override {
    Add(line, column, message);
  }

 private:
  void Add(int line, int column, const std::string& message) {
    constexpr size_t kMaxProblems = 50;
    if (out_.size() < kMaxProblems) {
      out_.push_back(absl::StrCat(line + 1, ":", column + 1, ": ", Explained(message)));
    }
  }
  std::vector<std::string>& out_;
};

std::string WithoutUserInformation(const std::string& address) {
  const size_t at = address.rfind('@');
  if (at == std::string::npos) return address;
  const size_t scheme = address.find("://");
  const size_t start = scheme == std::string::npos ? 0 : scheme + 3;
  return address.substr(0, start) + "***" + address.substr(at);
}

}  // namespace

std::vector<std::string> ParseConfigText(std::string_view text, config::v1::ServerConfig& config) {
  std::vector<std::string> found;
  Problems problems(found);
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&problems);
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(32);
  google::protobuf::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  if (!parser.Parse(&input, &config) && found.empty()) {
    found.push_back("1:1: the text is not a configuration");
  }
  return found;
}

std::string ConfigForLog(const config::v1::ServerConfig& config) {
  config::v1::ServerConfig masked = config;
  if (masked.has_telemetry()) {
    auto* telemetry = masked.mutable_telemetry();
    telemetry->set_otlp_endpoint(WithoutUserInformation(telemetry->otlp_endpoint()));
  }
  TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  printer.PrintToString(masked, &text);
  if (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

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
