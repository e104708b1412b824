// SPDX-License-Identifier: Apache-2.0
#include "client/command/weights_check.h"

#include <filesystem>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/command/neighbour.h"
#include "client/command/quantity.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"

namespace reel::client {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

const Value& Field(const Struct& line, const char* name) {
  const auto found = line.fields().find(name);
  return found == line.fields().end() ? Value::default_instance() : found->second;
}

std::string Facts(const Struct& line) {
  const auto bytes = static_cast<int64_t>(Field(line, "weightBytes").number_value());
  std::string facts = Field(line, "family").string_value();
  if (bytes > 0) {
    absl::StrAppend(&facts, ", ", HumanBytes(bytes), " as ", Field(line, "dtype").string_value());
  }
  for (const auto& [part, path] : Field(line, "parts").struct_value().fields()) {
    absl::StrAppend(&facts, ", ", part, " from ",
                    std::filesystem::path(path.string_value()).filename().string());
  }
  for (const Value& adapter : Field(line, "adapters").list_value().values()) {
    const Struct& own = adapter.struct_value();
    absl::StrAppend(&facts, ", with ", Field(own, "name").string_value(), " times ",
                    Field(own, "scale").number_value());
    if (const double idle = Field(own, "idleLayers").number_value(); idle > 0) {
      absl::StrAppend(&facts, ", which changes nothing in ", idle, " of its layers");
    }
  }
  return facts;
}

}  // namespace

Check CheckWeights(const std::string& folder, const WeightsFlags& flags) {
  Check check;
  check.name = "model";
  check.ok = false;
  check.code = ExitCode::kInvalid;
  std::vector<std::string> words = {"--check", "--json", "--model=" + flags.path};
  if (!flags.dtype.empty()) words.push_back("--dtype=" + flags.dtype);
  if (!flags.text_folder.empty()) words.push_back("--text-folder=" + flags.text_folder);
  for (const std::string& part : flags.parts) words.push_back("--part=" + part);
  for (const std::string& adapter : flags.adapters) words.push_back("--adapter=" + adapter);
  if (!flags.manifest.empty()) words.push_back("--manifest=" + flags.manifest);
  if (flags.random_weights) {
    words.push_back(absl::StrCat("--random-weights=", *flags.random_weights));
  }
  const auto answer = AskNeighbour(folder, "reel-render", words);
  if (!answer.ok()) {
    check.detail = std::string(answer.status().message());
    check.hint = "Install the programs of Reel in one folder.";
    check.code = ExitCode::kFailed;
    return check;
  }
  Struct line;
  if (!google::protobuf::util::JsonStringToMessage(answer->out, &line).ok()) {
    check.detail = absl::StrCat("reel-render ended with status ", answer->exit_code,
                                " and: ", absl::StripAsciiWhitespace(answer->errors));
    check.hint = "See what `reel-render --version` says.";
    check.code = ExitCode::kFailed;
    return check;
  }
  check.ok = Field(line, "ok").bool_value();
  check.detail = check.ok ? Facts(line) : Field(line, "problem").string_value();
  check.hint = Field(line, "advice").string_value();
  return check;
}

}  // namespace reel::client
