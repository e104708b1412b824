// SPDX-License-Identifier: Apache-2.0
// Converts VideoSpec to GenerationSpec and back: the fields of model/spec_fields.h by their names,
// messages inside by hand.
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/digest/sha256.h"
#include "model/content_type.h"
#include "model/own_sound.h"
#include "model/spec_fields.h"
#include "server/convert/convert.h"
#include "server/convert/field_convert.h"

namespace reel {
namespace {

using Kind = model::Condition::Kind;
using Use = model::Condition::Use;
using Variants = std::map<std::string, std::string>;

// Of a file that was sent ahead: as it is told, until its bytes have been looked at.
Kind KindOfFile(const v1::Condition& proto) {
  if (proto.content_type().starts_with("audio/")) return Kind::kAudio;
  const bool is_clip =
      proto.content_type().starts_with("video/") || proto.use() == v1::CONDITION_USE_REFINE;
  return is_clip ? Kind::kVideo : Kind::kImage;
}

Kind KindOf(const v1::Condition& proto) {
  if (proto.has_file()) return KindOfFile(proto);
  if (proto.has_audio()) return Kind::kAudio;
  return proto.has_video() ? Kind::kVideo : Kind::kImage;
}

const std::string& BytesOf(const v1::Condition& proto) {
  if (proto.has_audio()) return proto.audio();
  return proto.has_video() ? proto.video() : proto.image();
}

model::Condition ConditionFromProto(const v1::Condition& proto) {
  model::Condition condition;
  condition.kind = KindOf(proto);
  if (proto.use() == v1::CONDITION_USE_REFINE) condition.use = Use::kRefine;
  if (proto.use() == v1::CONDITION_USE_REFERENCE) condition.use = Use::kReference;
  condition.frame_index = proto.frame_index();
  if (proto.has_strength()) condition.strength = proto.strength();
  if (proto.has_attention_strength()) condition.attention_strength = proto.attention_strength();
  condition.file = proto.file();
  const std::string& bytes = BytesOf(proto);
  if (bytes.empty()) {
    condition.content_type = proto.content_type();
    condition.size_bytes = proto.size_bytes();
    condition.sha256 = proto.sha256();
    return condition;
  }
  // If the bytes are there, their description is computed: a caller's could be wrong.
  condition.bytes = std::make_shared<const std::string>(bytes);
  condition.content_type =
      condition.is_sound() ? model::SoundTypeOf(bytes) : model::PictureTypeOf(bytes);
  condition.size_bytes = static_cast<int64_t>(bytes.size());
  condition.sha256 = Sha256Hex(bytes);
  return condition;
}

void SetCondition(const model::Condition& condition, bool with_bytes, v1::Condition& proto) {
  // Without bytes the empty member stays set: it tells a picture from a clip or a sound.
  std::string bytes = with_bytes && condition.bytes ? *condition.bytes : std::string();
  switch (condition.kind) {
    case Kind::kImage:
      proto.set_image(std::move(bytes));
      break;
    case Kind::kVideo:
      proto.set_video(std::move(bytes));
      break;
    case Kind::kAudio:
      proto.set_audio(std::move(bytes));
      break;
  }
  if (condition.is_refined()) proto.set_use(v1::CONDITION_USE_REFINE);
  if (condition.is_reference()) proto.set_use(v1::CONDITION_USE_REFERENCE);
  proto.set_frame_index(condition.frame_index);
  if (condition.strength) proto.set_strength(*condition.strength);
  if (condition.attention_strength) proto.set_attention_strength(*condition.attention_strength);
  proto.set_content_type(condition.content_type);
  proto.set_size_bytes(condition.size_bytes);
  proto.set_sha256(condition.sha256);
}

// A path is never part of the API.
void SetAdapters(const std::vector<model::RequestAdapter>& adapters, v1::VideoSpec& proto) {
  for (const model::RequestAdapter& adapter : adapters) {
    v1::Adapter& added = *proto.add_adapters();
    added.set_name(adapter.name);
    if (adapter.scale) added.set_scale(*adapter.scale);
    added.set_sha256(adapter.sha256);
    added.mutable_part_scales()->insert(adapter.part_scales.begin(), adapter.part_scales.end());
    added.mutable_pass_scales()->Assign(adapter.pass_scales.begin(), adapter.pass_scales.end());
  }
}

void TakeAdapters(const v1::VideoSpec& proto, std::vector<model::RequestAdapter>& adapters) {
  for (const v1::Adapter& adapter : proto.adapters()) {
    adapters.push_back(
        {.name = adapter.name(),
         .scale = adapter.has_scale() ? std::optional(adapter.scale()) : std::nullopt,
         .sha256 = adapter.sha256(),
         .part_scales = {adapter.part_scales().begin(), adapter.part_scales().end()},
         .pass_scales = {adapter.pass_scales().begin(), adapter.pass_scales().end()}});
  }
}

constexpr double kNanosOfASecond = 1e9;

double SecondsOf(const google::protobuf::Duration& proto) {
  return static_cast<double>(proto.seconds()) + proto.nanos() / kNanosOfASecond;
}

void SetSeconds(double seconds, google::protobuf::Duration& proto) {
  const double whole = std::floor(seconds);
  const int64_t nanos = std::llround((seconds - whole) * kNanosOfASecond);
  const bool is_next = nanos >= static_cast<int64_t>(kNanosOfASecond);
  proto.set_seconds(static_cast<int64_t>(whole) + (is_next ? 1 : 0));
  proto.set_nanos(is_next ? 0 : static_cast<int32_t>(nanos));
}

model::Source::Begin BeginOf(const v1::Source& proto) {
  using Begin = model::Source::Begin;
  switch (proto.begin_case()) {
    case v1::Source::kPromote:
      return Begin::kPromote;
    case v1::Source::kExtend:
      return Begin::kExtend;
    case v1::Source::kRetake:
      return Begin::kRetake;
    case v1::Source::BEGIN_NOT_SET:
      break;
  }
  return Begin::kUnspecified;
}

model::Source SourceFromProto(const v1::Source& proto) {
  const v1::Extend& extend = proto.extend();
  const v1::Retake& retake = proto.retake();
  return {.video = proto.video(),
          .begin = BeginOf(proto),
          .state_sha256 = proto.state_sha256(),
          .state = nullptr,
          .extend = {.num_frames = extend.num_frames(),
                     .overlap_frames = extend.overlap_frames(),
                     .join = extend.join(),
                     .source_frames = extend.source_frames()},
          .retake = {.begin = SecondsOf(retake.begin()),
                     .end = SecondsOf(retake.end()),
                     .keep_pictures = retake.keep_pictures(),
                     .keep_sound = retake.keep_sound()}};
}

void SetExtend(const model::Source::Extend& extend, v1::Extend& proto) {
  proto.set_num_frames(extend.num_frames);
  proto.set_overlap_frames(extend.overlap_frames);
  proto.set_join(extend.join);
  proto.set_source_frames(extend.source_frames);
}

void SetRetake(const model::Source::Retake& retake, v1::Retake& proto) {
  SetSeconds(retake.begin, *proto.mutable_begin());
  SetSeconds(retake.end, *proto.mutable_end());
  proto.set_keep_pictures(retake.keep_pictures);
  proto.set_keep_sound(retake.keep_sound);
}

void SetSource(const model::Source& source, v1::Source& proto) {
  proto.set_video(source.video);
  switch (source.begin) {
    case model::Source::Begin::kUnspecified:
      break;
    case model::Source::Begin::kPromote:
      proto.mutable_promote();
      break;
    case model::Source::Begin::kExtend:
      SetExtend(source.extend, *proto.mutable_extend());
      break;
    case model::Source::Begin::kRetake:
      SetRetake(source.retake, *proto.mutable_retake());
      break;
  }
  proto.set_state_sha256(source.state_sha256);
}

// Fields that are more than a value.
class SpecWriter : public MessageWriter<v1::VideoSpec> {
 public:
  SpecWriter(v1::VideoSpec& proto, bool with_bytes)
      : MessageWriter(proto), proto_(proto), with_bytes_(with_bytes) {}

  using MessageWriter::operator();
  void operator()(std::string_view, const std::vector<model::Condition>& conditions) {
    for (const model::Condition& condition : conditions) {
      SetCondition(condition, with_bytes_, *proto_.add_conditions());
    }
  }
  void operator()(std::string_view, const std::vector<model::RequestAdapter>& adapters) {
    SetAdapters(adapters, proto_);
  }
  void operator()(std::string_view, const Variants& variants) {
    if (variants.empty()) return;
    proto_.mutable_kernels()->mutable_variants()->insert(variants.begin(), variants.end());
  }
  void operator()(std::string_view, const std::optional<model::Source>& source) {
    if (source) SetSource(*source, *proto_.mutable_source());
  }

 private:
  v1::VideoSpec& proto_;
  const bool with_bytes_;
};

class SpecReader : public MessageReader<v1::VideoSpec> {
 public:
  explicit SpecReader(const v1::VideoSpec& proto) : MessageReader(proto), proto_(proto) {}

  using MessageReader::operator();
  void operator()(std::string_view, std::vector<model::Condition>& conditions) {
    for (const v1::Condition& condition : proto_.conditions()) {
      conditions.push_back(ConditionFromProto(condition));
    }
  }
  void operator()(std::string_view, std::vector<model::RequestAdapter>& adapters) {
    TakeAdapters(proto_, adapters);
  }
  void operator()(std::string_view, Variants& variants) {
    variants.insert(proto_.kernels().variants().begin(), proto_.kernels().variants().end());
  }
  void operator()(std::string_view, std::optional<model::Source>& source) {
    if (proto_.has_source()) source = SourceFromProto(proto_.source());
  }

 private:
  const v1::VideoSpec& proto_;
};

}  // namespace

model::GenerationSpec SpecFromProto(const v1::VideoSpec& proto) {
  model::GenerationSpec spec;
  SpecReader read(proto);
  VisitFields(read, spec);
  return spec;
}

v1::VideoSpec SpecToProto(const model::GenerationSpec& spec, bool with_bytes) {
  v1::VideoSpec proto;
  SpecWriter write(proto, with_bytes);
  VisitFields(write, spec);
  return proto;
}

}  // namespace reel
