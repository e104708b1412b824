// SPDX-License-Identifier: Apache-2.0
#include "model/origin/origin_text.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/states/spec_json.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

using nlohmann::json;

constexpr char kFormat[] = "reel.origin.1";
constexpr size_t kMostBytes = size_t{64} << 10;

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char character : text) {
    switch (character) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      default:
        // XML has no other control characters, not even escaped.
        escaped += static_cast<unsigned char>(character) < 0x20 ? ' ' : character;
    }
  }
  return escaped;
}

// "LTX-Video 0.9.5" and "LTX-2.3" end in a version; "test card" has none.
std::string_view VersionOf(std::string_view family) {
  const size_t comma = family.find(',');
  const std::string_view name = family.substr(0, comma);
  const size_t begin = name.find_last_of(" -");
  if (begin == std::string_view::npos || begin + 1 == name.size()) return {};
  const char first = name[begin + 1];
  return first >= '0' && first <= '9' ? name.substr(begin + 1) : std::string_view();
}

std::string Element(std::string_view name, std::string_view value) {
  return absl::StrCat("<Iptc4xmpExt:", std::string(name), ">", Escaped(value),
                      "</Iptc4xmpExt:", std::string(name), ">\n");
}

// As the API takes it: which of the members is there says what it is, and the bytes are not there.
json ConditionOf(json condition) {
  const auto kind = static_cast<Condition::Kind>(condition.value("kind", 0));
  condition.erase("kind");
  condition[FieldOf(kind)] = "";
  if (const auto use = condition.find("use"); use != condition.end()) {
    const bool refined = *use == static_cast<int>(Condition::Use::kRefine);
    *use = refined ? "CONDITION_USE_REFINE" : "CONDITION_USE_REFERENCE";
  }
  return condition;
}

// The spec by the names that the API has, members of messages inside them.
json ApiSpec(const GenerationSpec& spec) {
  GenerationSpec shown = spec;
  shown.preview = {};
  // What the arm chose is said by profile and variants.
  shown.kernels.experiment.clear();
  shown.kernels.arm.clear();
  shown.condition_pipeline = ConditionPipeline::kAuto;  // no part of the API
  const json flat = SpecToJson(shown);                  // outlives the loop over it
  json nested = json::object();
  for (const auto& [name, value] : flat.items()) {
    const size_t dot = name.find('.');
    if (dot == std::string::npos) {
      nested[name] = value;
    } else {
      nested[name.substr(0, dot)][name.substr(dot + 1)] = value;
    }
  }
  if (const auto found = nested.find("conditions"); found != nested.end()) {
    for (json& condition : *found) condition = ConditionOf(std::move(condition));
  }
  return nested;
}

json ModelOf(const ModelCard& card) {
  json model = {{"family", card.family}, {"parameters", card.parameters}};
  if (!card.weights_sha256.empty()) model["weights_sha256"] = card.weights_sha256;
  for (const FixedAdapter& adapter : card.fixed_adapters) {
    model["adapters"].push_back(
        {{"name", adapter.name}, {"scale", adapter.scale}, {"sha256", adapter.sha256}});
  }
  return model;
}

}  // namespace

std::string MarkOf(const ModelCard& card) {
  std::string properties =
      Element("DigitalSourceType",
              "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia");
  properties += Element("AISystemUsed", card.family);
  const std::string_view version = VersionOf(card.family);
  if (!version.empty()) properties += Element("AISystemVersionUsed", version);
  return absl::StrCat(
      "<?xpacket begin=\"\xef\xbb\xbf\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n"
      "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\n"
      "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n"
      "<rdf:Description rdf:about=\"\""
      " xmlns:Iptc4xmpExt=\"http://iptc.org/std/Iptc4xmpExt/2008-02-29/\""
      " xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\">\n"
      "<xmp:CreatorTool>Reel</xmp:CreatorTool>\n",
      properties, "</rdf:Description>\n</rdf:RDF>\n</x:xmpmeta>\n<?xpacket end=\"r\"?>");
}

absl::StatusOr<std::string> OriginOf(const GenerationSpec& spec, const ModelCard& card,
                                     const MadeOn& made) {
  json origin = {{"format", kFormat},
                 {"build", REEL_VERSION},
                 {"device", made.device},
                 {"model", ModelOf(card)},
                 {"spec", ApiSpec(spec)}};
  if (!made.kernels.empty()) origin["kernels"] = made.kernels;
  std::string text = origin.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() <= kMostBytes) return text;
  return absl::InternalError(absl::StrCat("The description of how the file is made has ",
                                          text.size(), " bytes, above ", kMostBytes));
}

}  // namespace reel::model
