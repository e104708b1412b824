// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/sound_decoder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/own_sound.h"
#include "server/worker/media/av_handles.h"
#include "server/worker/media/container.h"
#include "server/worker/media/memory_input.h"

extern "C" {
#include <libswresample/swresample.h>
}

namespace reel::worker {
namespace {

constexpr int kLeastRate = 8'000, kMostRate = 192'000;  // Hz
constexpr int kMostChannels = 8;

struct SwrDeleter {
  void operator()(SwrContext* p) const { swr_free(&p); }
};
using SwrPtr = std::unique_ptr<SwrContext, SwrDeleter>;

absl::Status BadSound(const char* what) { return absl::InvalidArgumentError(what); }

// Null: no file that is taken.
const char* DemuxerFor(model::SoundFile file) {
  switch (file) {
    case model::SoundFile::kWav:
      return "wav";
    case model::SoundFile::kFlac:
      return "flac";
    case model::SoundFile::kMp3:
      return "mp3";
    case model::SoundFile::kMp4:
      return "mov";
    case model::SoundFile::kUnknown:
      break;
  }
  return nullptr;
}

// The name of the decoder allowed for a track; null if there is none.
const char* SoundDecoderFor(AVCodecID codec) {
  switch (codec) {
    case AV_CODEC_ID_AAC:
      return "aac";
    case AV_CODEC_ID_FLAC:
      return "flac";
    case AV_CODEC_ID_MP3:
      return "mp3float";
    case AV_CODEC_ID_PCM_U8:
      return "pcm_u8";
    case AV_CODEC_ID_PCM_S16LE:
      return "pcm_s16le";
    case AV_CODEC_ID_PCM_S24LE:
      return "pcm_s24le";
    case AV_CODEC_ID_PCM_S32LE:
      return "pcm_s32le";
    case AV_CODEC_ID_PCM_F32LE:
      return "pcm_f32le";
    default:
      return nullptr;
  }
}

absl::StatusOr<AvCodecContextPtr> OpenSoundDecoder(const AVCodecParameters& track) {
  const char* const name = SoundDecoderFor(track.codec_id);
  const AVCodec* codec = name == nullptr ? nullptr : avcodec_find_decoder_by_name(name);
  if (codec == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("is coded as ", avcodec_get_name(track.codec_id),
                                                   "; use PCM in WAV, FLAC, MP3, or AAC in MP4"));
  }
  return OpenTrackDecoder(*codec, track);
}

absl::Status CheckFormat(const AVFrame& frame) {
  if (frame.sample_rate < kLeastRate || frame.sample_rate > kMostRate) {
    return absl::InvalidArgumentError(absl::StrCat(
        "has ", frame.sample_rate, " samples a second; use ", kLeastRate, " to ", kMostRate));
  }
  const int channels = frame.ch_layout.nb_channels;
  if (channels >= 1 && channels <= kMostChannels) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("has ", channels, " channels; use 1 to ", kMostChannels));
}

// How many samples of a frame are before the file's begin. An edit list hides what a decoder needs
// to start, and in a file of fragments libav leaves it in.
int HiddenIn(const AVFrame& frame, AVRational time_base) {
  if (frame.pts == AV_NOPTS_VALUE || frame.pts >= 0) return 0;
  const double hidden = -static_cast<double>(frame.pts) * av_q2d(time_base) * frame.sample_rate;
  return static_cast<int>(std::lround(std::clamp<double>(hidden, 0, frame.nb_samples)));
}

// The frame's planes of samples, without the first ones.
std::array<const uint8_t*, kMostChannels> PlanesBehind(const AVFrame& frame, int hidden) {
  const auto format = static_cast<AVSampleFormat>(frame.format);
  const int channels = frame.ch_layout.nb_channels;
  const bool is_planar = av_sample_fmt_is_planar(format) != 0;
  const std::ptrdiff_t skipped = std::ptrdiff_t{hidden} * av_get_bytes_per_sample(format);
  std::array<const uint8_t*, kMostChannels> planes = {};
  for (int i = 0; i < (is_planar ? channels : 1); ++i) {
    planes[static_cast<size_t>(i)] = frame.extended_data[i] + skipped * (is_planar ? 1 : channels);
  }
  return planes;
}

// Brings decoded frames to one rate. All must have the format of the first.
class Resampler {
 public:
  explicit Resampler(const model::SoundFormat& format) : format_(format) {}

  // A null frame: no more come. The first `hidden` samples are left out.
  absl::Status Add(const AVFrame* frame, int hidden = 0) {
    if (frame != nullptr) REEL_RETURN_IF_ERROR(TakeFormat(*frame));
    if (swr_ == nullptr) return absl::OkStatus();
    const int given = frame == nullptr ? 0 : frame->nb_samples - hidden;
    if (frame != nullptr && given == 0) return absl::OkStatus();
    const int room = swr_get_out_samples(swr_.get(), given);
    if (room < 0) return BadSound("is broken");
    std::vector<float> samples(static_cast<size_t>(room) * static_cast<size_t>(channels_));
    auto* out = reinterpret_cast<uint8_t*>(samples.data());
    std::array<const uint8_t*, kMostChannels> planes = {};
    if (frame != nullptr) planes = PlanesBehind(*frame, hidden);
    const int count =
        swr_convert(swr_.get(), &out, room, frame == nullptr ? nullptr : planes.data(), given);
    if (count < 0) return BadSound("is broken");
    samples.resize(static_cast<size_t>(count) * static_cast<size_t>(channels_));
    for (const float sample : samples) {
      // Files of floats may hold anything.
      const float sane = sample >= -1 && sample <= 1 ? sample : (sample > 0 ? 1.F : -1.F);
      const int copies = format_.channels / channels_;
      samples_.insert(samples_.end(), static_cast<size_t>(copies), std::isnan(sample) ? 0.F : sane);
    }
    return absl::OkStatus();
  }
  int64_t samples() const { return static_cast<int64_t>(samples_.size()) / format_.channels; }
  std::vector<float> Take() { return std::move(samples_); }

 private:
  absl::Status TakeFormat(const AVFrame& frame) {
    if (swr_ != nullptr) {
      const bool same = frame.sample_rate == rate_ && frame.format == sample_format_ &&
                        frame.ch_layout.nb_channels == input_channels_;
      return same ? absl::OkStatus() : BadSound("changes its rate or its channels on the way");
    }
    REEL_RETURN_IF_ERROR(CheckFormat(frame));
    rate_ = frame.sample_rate;
    sample_format_ = frame.format;
    input_channels_ = frame.ch_layout.nb_channels;
    // libswresample would make one channel quieter as both of two.
    channels_ = std::min(input_channels_, format_.channels);
    AVChannelLayout in = {}, out = {};
    // Files may name places that nobody mixes from.
    av_channel_layout_default(&in, input_channels_);
    av_channel_layout_default(&out, channels_);
    SwrContext* context = nullptr;
    const int made = swr_alloc_set_opts2(&context, &out, AV_SAMPLE_FMT_FLT, format_.sample_rate,
                                         &in, static_cast<AVSampleFormat>(frame.format),
                                         frame.sample_rate, kSilence, nullptr);
    swr_.reset(context);
    return made < 0 || swr_init(swr_.get()) < 0 ? BadSound("is broken") : absl::OkStatus();
  }

  const model::SoundFormat format_;
  SwrPtr swr_;
  int rate_ = 0, sample_format_ = 0, input_channels_ = 0;
  int channels_ = 0;  // that it makes
  std::vector<float> samples_;
};

// A sound that is being read.
class SoundReader {
 public:
  SoundReader(ContainerPtr container, AVStream* track, AvCodecContextPtr decoder,
              const model::SoundFormat& format)
      : container_(std::move(container)),
        track_(track),
        decoder_(std::move(decoder)),
        resampler_(format) {}

  // Reads until it has `enough` samples.
  absl::Status Read(int64_t enough, absl::FunctionRef<absl::Status()> proceed) {
    packet_.reset(av_packet_alloc());
    frame_.reset(av_frame_alloc());
    if (!packet_ || !frame_) return absl::InternalError("Out of memory for a sound");
    for (bool ended = false; !ended && resampler_.samples() < enough;) {
      REEL_RETURN_IF_ERROR(proceed());
      const int code = av_read_frame(container_.get(), packet_.get());
      ended = code == AVERROR_EOF;
      if (code < 0 && !ended) return BadSound("is broken");
      if (!ended && packet_->stream_index != track_->index) {
        av_packet_unref(packet_.get());
        continue;
      }
      const int sent = avcodec_send_packet(decoder_.get(), ended ? nullptr : packet_.get());
      av_packet_unref(packet_.get());
      if (sent < 0) return BadSound("is damaged: a part of it cannot be decoded");
      REEL_RETURN_IF_ERROR(TakeDecoded(enough, proceed));
      if (ended) REEL_RETURN_IF_ERROR(resampler_.Add(nullptr));
    }
    return resampler_.samples() > 0 ? absl::OkStatus() : BadSound("contains no sound");
  }
  std::vector<float> Take() { return resampler_.Take(); }

 private:
  absl::Status TakeDecoded(int64_t enough, absl::FunctionRef<absl::Status()> proceed) {
    while (resampler_.samples() < enough) {
      const int code = avcodec_receive_frame(decoder_.get(), frame_.get());
      if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) break;
      if (code < 0) return BadSound("is damaged: a part of it cannot be decoded");
      REEL_RETURN_IF_ERROR(proceed());
      REEL_RETURN_IF_ERROR(resampler_.Add(frame_.get(), HiddenIn(*frame_, track_->time_base)));
    }
    return absl::OkStatus();
  }

  const ContainerPtr container_;
  AVStream* const track_;  // owned by `container_`
  const AvCodecContextPtr decoder_;
  AvPacketPtr packet_;
  AvFramePtr frame_;
  Resampler resampler_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const model::ConditionSound>> DecodeSound(
    const std::string& bytes, const model::SoundFormat& format, int64_t max_samples,
    absl::FunctionRef<absl::Status()> proceed) {
  const char* const demuxer = DemuxerFor(model::SoundFileOf(bytes));
  if (demuxer == nullptr) return BadSound("is not a WAV, FLAC, MP3 or MP4 file");
  REEL_ASSIGN_OR_RETURN(const auto input, MemoryInput::Open(bytes));
  auto container = OpenContainer(input->io(), demuxer);
  if (absl::IsInvalidArgument(container.status()))
    return BadSound("is damaged: its head is broken");
  REEL_RETURN_IF_ERROR(container.status());
  AVStream* const track = ChooseTrack(**container, AVMEDIA_TYPE_AUDIO);
  if (track == nullptr) return BadSound("contains no sound");
  REEL_ASSIGN_OR_RETURN(AvCodecContextPtr decoder, OpenSoundDecoder(*track->codecpar));
  // Codecs pad a sound's end, so a little more is not worth a word.
  const int64_t unheard = format.sample_rate / 10;
  SoundReader reader(*std::move(container), track, std::move(decoder), format);
  REEL_RETURN_IF_ERROR(reader.Read(max_samples + unheard + 1, proceed));
  auto sound = std::make_shared<model::ConditionSound>();
  sound->format = format;
  sound->interleaved = reader.Take();
  sound->is_cut = sound->samples() > max_samples + unheard;
  const int64_t kept = std::min(sound->samples(), max_samples) * format.channels;
  sound->interleaved.resize(static_cast<size_t>(kept));
  return sound;
}

bool HasSound(const std::string& bytes) {
  const auto input = MemoryInput::Open(bytes);
  if (!input.ok()) return false;
  const auto container = OpenContainer((*input)->io(), DemuxerFor(model::SoundFile::kMp4));
  return container.ok() && ChooseTrack(**container, AVMEDIA_TYPE_AUDIO) != nullptr;
}

}  // namespace reel::worker
