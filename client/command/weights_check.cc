// SPDX-License-Identifier: Apache-2.0
#include "client/command/weights_check.h"

#include <filesystem>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
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

int64_t Bytes(const Value& value) { return static_cast<int64_t>(value.number_value()); }

// With a tenth of a gigabyte, so that the parts add up to their sum.
std::string Size(int64_t bytes) {
  if (bytes < 100'000'000) return HumanBytes(bytes);
  return absl::StrFormat("%.1f GB", static_cast<double>(bytes) / 1e9);
}

// "each step copies 8.1 GB to the device: 324 ms at 25 GB/s". Assumes a usual link; a server
// measures its own.
std::string Copies(const char* what, int64_t bytes) {
  constexpr double kBytesPerSecond = 25e9;  // PCIe 4 with 16 lanes
  return absl::StrCat(what, " copies ", Size(bytes), " to the device: ",
                      HumanDuration(absl::Seconds(static_cast<double>(bytes) / kBytesPerSecond)),
                      " at 25 GB/s");
}

// How the weights are held on a device with so much memory.
Check FitCheck(const Struct& fit, const std::string& device_memory) {
  const int64_t left = Bytes(Field(fit, "left"));
  Check check;
  check.name = "memory";
  check.detail =
      absl::StrCat(device_memory, ": of ", Size(Bytes(Field(fit, "usable"))),
                   " that can be used weights take ", Size(Bytes(Field(fit, "deviceBytes"))),
                   ", the default video ", Size(Bytes(Field(fit, "defaultVideo"))));
  if (left < 0) absl::StrAppend(&check.detail, ": only smaller videos fit");
  for (const Value& value : Field(fit, "parts").list_value().values()) {
    const Struct& part = value.struct_value();
    const int64_t device = Bytes(Field(part, "device")), host = Bytes(Field(part, "host"));
    std::string line = absl::StrCat(Field(part, "name").string_value(), ": ");
    if (device > 0) absl::StrAppend(&line, Size(device), " on the device");
    if (host > 0) {
      absl::StrAppend(&line, device > 0 ? ", " : "", Size(host), " on the host");
    }
    check.lines.push_back(line);
  }
  const int64_t text = Bytes(Field(fit, "textCopies")), step = Bytes(Field(fit, "stepCopies"));
  if (text > 0) check.lines.push_back(Copies("a new text", text));
  const int64_t picture = Bytes(Field(fit, "pictureCopies"));
  if (picture > 0) check.lines.push_back(Copies("a condition", picture));
  if (step > 0) {
    check.lines.push_back(absl::StrCat(
        Copies("each step", step), ", beside its work; ", Bytes(Field(fit, "streamedBlocks")),
        " of ", Bytes(Field(fit, "streamedBlocks")) + Bytes(Field(fit, "residentBlocks")),
        " blocks"));
  }
  return check;
}

}  // namespace

std::vector<Check> CheckWeights(const std::string& folder, const WeightsFlags& flags) {
  Check check;
  check.name = "model";
  check.ok = false;
  check.code = ExitCode::kInvalid;
  std::vector<std::string> words = {"--check", "--json", "--model=" + flags.path};
  if (!flags.dtype.empty()) words.push_back("--dtype=" + flags.dtype);
  if (!flags.device_memory.empty()) {
    words.push_back("--device-memory=" + flags.device_memory);
    // This machine's own default would be that of a CPU.
    if (flags.dtype.empty()) words.push_back("--dtype=bf16");
  }
  if (!flags.weights_form.empty()) words.push_back("--weights-form=" + flags.weights_form);
  if (!flags.text_form.empty()) words.push_back("--text-form=" + flags.text_form);
  if (!flags.decoder.empty()) words.push_back("--decoder=" + flags.decoder);
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
    return {check};
  }
  Struct line;
  if (!google::protobuf::util::JsonStringToMessage(answer->out, &line).ok()) {
    check.detail = absl::StrCat("reel-render ended with status ", answer->exit_code,
                                " and: ", absl::StripAsciiWhitespace(answer->errors));
    check.hint = "See what `reel-render --version` says.";
    check.code = ExitCode::kFailed;
    return {check};
  }
  check.ok = Field(line, "ok").bool_value();
  check.detail = check.ok ? Facts(line) : Field(line, "problem").string_value();
  check.hint = Field(line, "advice").string_value();
  if (!Field(line, "fit").has_struct_value()) return {check};
  return {check, FitCheck(Field(line, "fit").struct_value(), flags.device_memory)};
}

}  // namespace reel::client
