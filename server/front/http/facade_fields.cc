// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/facade_fields.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kernels/base/status_macros.h"
#include "server/errors/error.h"
#include "server/front/http/door_json.h"
#include "server/front/http/facade_files.h"
#include "server/front/http/facade_words.h"
#include "server/front/http/form_body.h"

namespace reel::front {
namespace {

using Json = nlohmann::json;

constexpr double kMaxSeconds = 3600;
constexpr double kMostTimeout = 1e9;  // which is refused

// What was sent, by name; a form's texts are strings.
struct SentFields {
  Json fields = Json::object();
  std::map<std::string, std::string> files;
};

// "preview[every_steps]" is a member of an object, as the SDK writes it into forms.
absl::Status PutFormField(FormPart part, SentFields& sent) {
  if (part.file) {
    if (IsFacadeFile(part.name) &&
        sent.files.try_emplace(part.name, std::move(part.value)).second) {
      return absl::OkStatus();
    }
    return MakeInvalid(Reason::kInvalidRequest,
                       {{part.name, "files are input_reference and reference_video, one of each"}});
  }
  const size_t open = part.name.find('[');
  const bool member = open != std::string::npos && open > 0 && part.name.back() == ']';
  const std::string name = member ? part.name.substr(0, open) : part.name;
  Json& place = sent.fields[name];
  bool twice = !place.is_null();
  if (member) {
    const std::string inner = part.name.substr(open + 1, part.name.size() - open - 2);
    twice = !place.is_null() && (!place.is_object() || place.contains(inner));
    if (!twice) place[inner] = std::move(part.value);
  } else if (!twice) {
    place = std::move(part.value);
  }
  if (twice) return MakeInvalid(Reason::kInvalidRequest, {{part.name, "must be given once"}});
  return absl::OkStatus();
}

// What those carry counts where it is not said beside them.
absl::Status MergeExtras(Json& fields) {
  for (const char* name : {"extra_body", "extra_params"}) {
    const auto found = fields.find(name);
    if (found == fields.end()) continue;
    Json extra = std::move(*found);
    fields.erase(found);
    if (extra.is_null() || extra == "") continue;
    if (extra.is_string()) {
      REEL_ASSIGN_OR_RETURN(extra, ParseJsonObject(extra.get_ref<const std::string&>()));
    }
    if (!extra.is_object()) {
      return MakeInvalid(Reason::kInvalidRequest, {{name, "must be an object"}});
    }
    extra.update(fields);
    fields = std::move(extra);
  }
  return absl::OkStatus();
}

absl::StatusOr<SentFields> ReadFields(std::string_view content_type, std::string_view body) {
  SentFields sent;
  if (BodyTypeOf(content_type) == BodyType::kJson) {
    REEL_ASSIGN_OR_RETURN(sent.fields, ParseJsonObject(body));
  } else {
    REEL_ASSIGN_OR_RETURN(std::vector<FormPart> parts, ParseFormBody(content_type, body));
    for (FormPart& part : parts) REEL_RETURN_IF_ERROR(PutFormField(std::move(part), sent));
  }
  REEL_RETURN_IF_ERROR(MergeExtras(sent.fields));
  return sent;
}

// Fields as values; what is no such value becomes a violation.
class FieldReader {
 public:
  explicit FieldReader(const Json& fields) : fields_(fields) {}

  const Json* Find(const char* name) const {
    const auto found = fields_.find(name);
    return found == fields_.end() || found->is_null() || *found == "" ? nullptr : &*found;
  }
  std::string Text(const char* name) {
    const Json* value = Find(name);
    if (value == nullptr) return "";
    if (value->is_string()) return value->get<std::string>();
    Violate(name, "must be a text");
    return "";
  }
  // Of a field in which an empty text is a value.
  std::optional<std::string> TextOrEmpty(const char* name) {
    const auto found = fields_.find(name);
    if (found == fields_.end() || found->is_null()) return std::nullopt;
    return Text(name);
  }
  std::optional<double> Number(const char* name) {
    const Json* value = Find(name);
    if (value == nullptr) return std::nullopt;
    double number = std::numeric_limits<double>::quiet_NaN();
    if (value->is_number()) number = value->get<double>();
    if (value->is_string() && !absl::SimpleAtod(value->get_ref<const std::string&>(), &number)) {
      number = std::numeric_limits<double>::quiet_NaN();
    }
    if (std::isfinite(number)) return number;
    Violate(name, "must be a number");
    return std::nullopt;
  }
  std::optional<bool> Flag(const char* name) {
    const Json* value = Find(name);
    if (value == nullptr) return std::nullopt;
    if (value->is_boolean()) return value->get<bool>();
    bool flag = false;
    if (value->is_string() && absl::SimpleAtob(value->get_ref<const std::string&>(), &flag)) {
      return flag;
    }
    Violate(name, "must be true or false");
    return std::nullopt;
  }
  std::optional<int64_t> Whole(const char* name, int64_t least, int64_t most) {
    const auto number = Number(name);
    if (!number) return std::nullopt;
    const bool whole = *number == std::floor(*number) && *number >= static_cast<double>(least) &&
                       *number <= static_cast<double>(most);
    if (whole) return static_cast<int64_t>(*number);
    Violate(name, absl::StrCat("must be a whole number, ", least, " to ", most));
    return std::nullopt;
  }
  int Count(const char* name) {
    return static_cast<int>(Whole(name, 0, std::numeric_limits<int>::max()).value_or(0));
  }
  void Violate(std::string name, std::string why) {
    violations_.push_back({std::move(name), std::move(why)});
  }
  const std::vector<model::FieldViolation>& violations() const { return violations_; }

 private:
  const Json& fields_;
  std::vector<model::FieldViolation> violations_;
};

// A form's values are texts, also those that are JSON.
std::string TextOf(const Json& value) {
  return value.is_string() ? value.get<std::string>() : DumpJson(value);
}

void CheckNames(const Json& fields, FieldReader& reader) {
  for (const auto& [name, value] : fields.items()) {
    if (IsFacadeWord(name)) continue;
    const ForeignWord* word = FindForeignWord(name);
    if (word == nullptr) {
      reader.Violate(name, NoSuchField(name, FacadeWords()));
    } else if (!AsksForNothing(*word, TextOf(value))) {
      reader.Violate(name, "is not supported here; leave it out");
    }
  }
}

void ReadSize(FieldReader& reader, v1::VideoSpec& spec) {
  spec.set_width(reader.Count("width"));
  spec.set_height(reader.Count("height"));
  const std::string size = reader.Text("size");
  if (size.empty()) return;
  const std::vector<std::string> sides = absl::StrSplit(size, 'x');
  int width = 0, height = 0;
  if (sides.size() != 2 || !absl::SimpleAtoi(sides[0], &width) ||
      !absl::SimpleAtoi(sides[1], &height) || width <= 0 || height <= 0) {
    return reader.Violate("size", "must be WIDTHxHEIGHT in pixels, e.g. 704x480");
  }
  if ((spec.width() != 0 && spec.width() != width) ||
      (spec.height() != 0 && spec.height() != height)) {
    return reader.Violate("size", "is not what width and height say; send one of the two");
  }
  spec.set_width(width);
  spec.set_height(height);
}

const ServedModel* FindModel(const std::string& name, const std::vector<ServedModel>& models) {
  const auto found = std::find_if(models.begin(), models.end(), [&](const ServedModel& served) {
    return name.empty() ? served.is_default : served.card.name == name;
  });
  return found == models.end() ? nullptr : &*found;
}

double RateOf(const v1::VideoSpec& spec, const model::ModelCard& card) {
  if (spec.frame_rate() > 0) return spec.frame_rate();
  for (const model::Preset& preset : card.presets) {
    if (preset.name == spec.preset() && preset.values.frame_rate > 0) {
      return preset.values.frame_rate;
    }
  }
  return card.defaults.frame_rate;
}

// Seconds become the legal count of frames that is nearest; a number of frames says it better.
void ReadSeconds(FieldReader& reader, const std::vector<ServedModel>& models, FacadeAsk& ask) {
  v1::VideoSpec& spec = *ask.request.mutable_spec();
  const auto seconds = reader.Number("seconds");
  if (!seconds || spec.num_frames() != 0) return;
  if (*seconds <= 0 || *seconds > kMaxSeconds) {
    return reader.Violate("seconds", "must be above 0 and at most an hour");
  }
  const ServedModel* served = FindModel(spec.model(), models);
  if (served == nullptr) return;  // which is refused for that
  const double rate = RateOf(spec, served->card);
  const int multiple = std::max(1, served->card.temporal_multiple);
  const double steps = std::clamp(std::round((*seconds * rate - 1) / multiple), 0.0, 1e6);
  const int frames = static_cast<int>(steps) * multiple + 1;
  spec.set_num_frames(frames);
  ask.notice = absl::StrCat(*seconds, " seconds at ", rate, " frames a second are rendered as ",
                            frames, " frames");
}

void ReadMessage(const char* name, const char* plain, FieldReader& reader,
                 google::protobuf::Message& message) {
  const Json* value = reader.Find(name);
  if (value == nullptr) return;
  Json object = *value;
  const bool text = object.is_string();
  const bool written = text && object.get_ref<const std::string&>().front() == '{';
  if (!object.is_object() && !written) object = Json{{plain, *value}};
  const absl::Status read = ReadJson(TextOf(object), message);
  if (!read.ok()) reader.Violate(name, std::string(read.message()));
}

// Adapters by name: a list of names, or of {"name", "scale"}; in a form as JSON.
void ReadLoras(FieldReader& reader, v1::VideoSpec& spec) {
  const Json* value = reader.Find("loras");
  if (value == nullptr) return;
  absl::StatusOr<Json> fields =
      ParseJsonObject(absl::StrCat("{\"adapters\":", TextOf(*value), "}"));
  bool is_list = fields.ok() && fields->size() == 1 && (*fields)["adapters"].is_array();
  if (is_list) {
    for (Json& one : (*fields)["adapters"]) {
      if (one.is_string()) one = Json{{"name", one}};
      is_list = is_list && one.is_object();
    }
  }
  if (!is_list) {
    return reader.Violate("loras", R"(must be a list of {"name": NAME, "scale": NUMBER})");
  }
  v1::VideoSpec named;
  const absl::Status read = ReadJson(DumpJson(*fields), named);
  if (!read.ok()) return reader.Violate("loras", std::string(read.message()));
  spec.mutable_adapters()->Swap(named.mutable_adapters());
}

// The value of an enum by its name, or by what follows `prefix` there.
template <typename Enum, typename Parse>
std::optional<Enum> ReadWord(const char* name, const std::string& prefix, Parse parse,
                             const char* rule, FieldReader& reader) {
  const std::string word = absl::AsciiStrToUpper(reader.Text(name));
  Enum value;
  if (word.empty()) return std::nullopt;
  if (parse(word, &value) || parse(prefix + word, &value)) return value;
  reader.Violate(name, rule);
  return std::nullopt;
}

// Nullopt if the request has no such file.
absl::StatusOr<std::optional<v1::Condition>> ReadFile(const FileField& field,
                                                      const SentFields& sent,
                                                      const FieldReader& reader,
                                                      FacadeFiles& files) {
  const auto file = sent.files.find(field.name);
  if (file != sent.files.end()) return files.FromBytes(field, file->second);
  const Json* value = reader.Find(field.name);
  if (value == nullptr) return std::nullopt;
  return files.FromValue(field, *value);
}

absl::Status ReadFiles(const SentFields& sent, const std::vector<ServedModel>& models,
                       FacadeFiles files, FieldReader& reader, v1::VideoSpec& spec) {
  REEL_ASSIGN_OR_RETURN(auto input, ReadFile(kInputReference, sent, reader, files));
  if (input) *spec.add_conditions() = *std::move(input);
  REEL_ASSIGN_OR_RETURN(auto clip, ReadFile(kReferenceVideo, sent, reader, files));
  if (!clip) return absl::OkStatus();
  const ServedModel* served = FindModel(spec.model(), models);
  if (served != nullptr && served->has_card && !served->card.takes_references) {
    reader.Violate(kReferenceVideo.name, "this model takes no reference clips; leave it out");
  } else if (clip->has_image()) {
    reader.Violate(kReferenceVideo.name, "must be a clip (MP4)");
  }
  clip->set_use(v1::CONDITION_USE_REFERENCE);
  *spec.add_conditions() = *std::move(clip);
  return absl::OkStatus();
}

void ReadSpec(FieldReader& reader, v1::VideoSpec& spec) {
  spec.set_prompt(reader.Text("prompt"));
  if (const auto none = reader.TextOrEmpty("negative_prompt")) spec.set_negative_prompt(*none);
  spec.set_model(reader.Text("model"));
  spec.set_preset(reader.Text("preset"));
  ReadSize(reader, spec);
  spec.set_num_frames(reader.Count("num_frames"));
  spec.set_num_inference_steps(reader.Count("num_inference_steps"));
  if (const auto rate = reader.Number("fps")) spec.set_frame_rate(*rate);
  if (const auto scale = reader.Number("guidance_scale")) spec.set_guidance_scale(*scale);
  if (const auto sound = reader.Flag("sound")) spec.set_sound(*sound);
  if (const auto keep = reader.Flag("keep_state")) spec.set_keep_state(*keep);
  const auto seed = reader.Whole("seed", 0, int64_t{1} << 53);
  if (seed) spec.set_seed(static_cast<uint64_t>(*seed));
  ReadMessage("kernels", "profile", reader, *spec.mutable_kernels());
  if (spec.kernels().ByteSizeLong() == 0) spec.clear_kernels();
  ReadLoras(reader, spec);
  ReadMessage("preview", "every_steps", reader, *spec.mutable_preview());
  if (spec.preview().ByteSizeLong() == 0) spec.clear_preview();
  const auto origin = ReadWord<v1::Origin>("origin", "ORIGIN_", v1::Origin_Parse,
                                           "must be none, mark or spec", reader);
  if (origin) spec.mutable_encoding()->set_origin(*origin);
}

}  // namespace

absl::StatusOr<FacadeAsk> ReadFacadeAsk(std::string_view content_type, std::string_view body,
                                        const KnownModels& models,
                                        const model::RequestLimits& limits) {
  REEL_ASSIGN_OR_RETURN(const SentFields sent, ReadFields(content_type, body));
  FieldReader reader(sent.fields);
  FacadeAsk ask;
  v1::VideoSpec& spec = *ask.request.mutable_spec();
  CheckNames(sent.fields, reader);
  ReadSpec(reader, spec);
  const auto alias = models.aliases.find(spec.model());
  if (alias != models.aliases.end()) spec.set_model(alias->second);
  ReadSeconds(reader, models.served, ask);
  const auto priority = ReadWord<v1::Priority>("priority", "PRIORITY_", v1::Priority_Parse,
                                               "must be low, normal or high", reader);
  if (priority) ask.request.set_priority(*priority);
  const auto n = reader.Whole("n", 1, kMostVideosPerCall);
  if (n) ask.request.set_count(static_cast<int>(*n));
  if (const auto timeout = reader.Number("timeout")) {
    const double nanos = std::round(std::clamp(*timeout, -kMostTimeout, kMostTimeout) * 1e9);
    ask.request.mutable_timeout()->set_seconds(static_cast<int64_t>(nanos / 1e9));
    ask.request.mutable_timeout()->set_nanos(static_cast<int32_t>(std::fmod(nanos, 1e9)));
  }
  REEL_RETURN_IF_ERROR(ReadFiles(sent, models.served, FacadeFiles(limits), reader, spec));
  if (!reader.violations().empty()) {
    return MakeInvalid(Reason::kInvalidRequest, reader.violations());
  }
  return ask;
}

std::string FacadeNameOf(std::string_view path) {
  if (path.starts_with("spec.")) path.remove_prefix(std::string_view("spec.").size());
  if (path == "width" || path == "height") return "size";
  if (path == "frame_rate") return "fps";
  if (path == "encoding.origin") return "origin";
  if (path == "count") return "n";
  const std::string_view first = path.substr(0, path.find_first_of(".["));
  if (first == "source") return "video_id";
  if (first == "adapters") return "loras";
  return std::string(first);
}

}  // namespace reel::front
