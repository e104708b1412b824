// SPDX-License-Identifier: Apache-2.0
// Extensions and retakes hold the latents of a video that has kept its state, whoever dies in
// between. What a request leaves out is the video's; what cannot be is refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "tests/conformance/caller.h"
#include "tests/conformance/service.h"
#include "tests/fakes/decoded_video.h"
#include "tests/fakes/mp4_boxes.h"

namespace reel::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

v1::VideoSpec FilmSpec() {
  v1::VideoSpec spec = SmallSpec("a red fox");
  spec.set_height(128);  // half of it is on the grid, too
  spec.set_num_frames(49);
  spec.set_frame_rate(24);
  spec.set_keep_state(true);
  return spec;
}

v1::VideoSpec RetakeOf(const std::string& name, int begin_ms, int end_ms) {
  v1::VideoSpec spec;
  spec.set_prompt("a blue owl");
  spec.set_seed(5);
  spec.mutable_source()->set_video(name);
  v1::Retake& retake = *spec.mutable_source()->mutable_retake();
  retake.mutable_begin()->set_nanos(begin_ms * 1'000'000);
  retake.mutable_end()->set_seconds(end_ms / 1000);
  retake.mutable_end()->set_nanos(end_ms % 1000 * 1'000'000);
  return spec;
}

v1::VideoSpec ExtensionOf(const std::string& name, int num_frames, int overlap = 0) {
  v1::VideoSpec spec;
  spec.set_prompt("a blue owl");
  spec.set_seed(5);
  spec.mutable_source()->set_video(name);
  spec.mutable_source()->mutable_extend()->set_num_frames(num_frames);
  spec.mutable_source()->mutable_extend()->set_overlap_frames(overlap);
  return spec;
}

v1::VideoSpec JoinedTo(const std::string& name, int num_frames) {
  v1::VideoSpec spec = ExtensionOf(name, num_frames);
  spec.mutable_source()->mutable_extend()->set_join(true);
  spec.set_keep_state(true);
  return spec;
}

// The first fragments of a file.
std::string FragmentsOf(const std::string& file, int count) {
  std::string fragments;
  for (const mp4::Mp4Box& box : mp4::BoxesOf(file)) {
    if (box.type != "moof" && box.type != "mdat") continue;
    fragments += file.substr(box.begin, box.end - box.begin);
    if (box.type == "mdat" && --count == 0) break;
  }
  return fragments;
}

class Hold : public Conformance {
 protected:
  static std::string FileOf(Service& service, const v1::Video& video) {
    std::string bytes;
    EXPECT_TRUE(service.Connect().Download(video.name(), 0, &bytes).ok()) << video.name();
    EXPECT_EQ(video.media().sha256(), Sha256Hex(bytes));
    EXPECT_EQ(video.media().size_bytes(), static_cast<int64_t>(bytes.size()));
    return bytes;
  }
  static std::string WhyRefused(Caller& caller, const v1::VideoSpec& spec) {
    const Answer refused = caller.Create(spec);
    EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    return refused.status.error_message();
  }
};

TEST_P(Hold, ARetakeIsTheVideoOnceMoreWithAStretchMadeAnew) {
  Service& service = Shared();
  Caller caller(service.server());
  const v1::Video film = caller.Finish(FilmSpec());
  EXPECT_GT(film.state_size_bytes(), 0) << "a whole video keeps its state, too";
  const v1::Video retake = caller.Finish(RetakeOf(film.name(), 500, 1000));
  EXPECT_EQ(retake.source_video(), film.name());
  EXPECT_EQ(retake.spec().prompt(), "a blue owl");
  EXPECT_EQ(retake.spec().width(), film.spec().width());
  EXPECT_EQ(retake.spec().num_frames(), 49);
  EXPECT_EQ(retake.spec().num_inference_steps(), film.spec().num_inference_steps());
  EXPECT_EQ(retake.spec().source().state_sha256(), film.state_sha256());
  EXPECT_EQ(retake.state_size_bytes(), 0) << "unless it is asked for";
  ASSERT_EQ(retake.notices_size(), 1);
  EXPECT_EQ(retake.notices(0).code(), "RETAKE_OF_WHOLE_LATENTS");
  EXPECT_THAT(retake.notices(0).message(), HasSubstr("frames 9 to 24"));
  EXPECT_NE(retake.media().sha256(), film.media().sha256());
  const v1::Video again = caller.Finish(RetakeOf(film.name(), 500, 1000));
  EXPECT_EQ(again.media().sha256(), retake.media().sha256());
  EXPECT_THAT(caller.Get(film.name()).video.continued_by(),
              UnorderedElementsAre(retake.name(), again.name()));
}

TEST_P(Hold, AnExtensionGoesOnAndCanBeGoneOnFrom) {
  Service& service = Shared();
  Caller caller(service.server());
  std::string last = caller.Finish(FilmSpec()).name();
  for (int i = 0; i < 3; ++i) {
    v1::VideoSpec spec = ExtensionOf(last, 16);
    spec.set_keep_state(true);
    const v1::Video next = caller.Finish(spec);
    EXPECT_EQ(next.spec().num_frames(), 41);
    EXPECT_EQ(next.spec().source().extend().overlap_frames(), 25);
    EXPECT_EQ(next.source_video(), last);
    EXPECT_GT(next.state_size_bytes(), 0);
    EXPECT_EQ(next.notices_size(), 0);
    last = next.name();
  }
}

TEST_P(Hold, AJoinedFileBeginsWithItsSourcesAndCanBeJoinedToAgain) {
  Service& service = Shared();
  Caller caller(service.server());
  const v1::Video film = caller.Finish(FilmSpec());
  const v1::Video joined = caller.Finish(JoinedTo(film.name(), 16));
  EXPECT_EQ(joined.spec().num_frames(), 41) << "what is made";
  EXPECT_EQ(joined.spec().source().extend().source_frames(), 49);
  EXPECT_EQ(joined.notices_size(), 0);
  const v1::Video again = caller.Finish(JoinedTo(joined.name(), 8));
  EXPECT_EQ(again.spec().source().extend().source_frames(), 65);

  const std::string file = FileOf(service, joined);
  EXPECT_EQ(FragmentsOf(file, 4), FragmentsOf(FileOf(service, film), 4)) << "25 frames";
  const auto played = reel::testing::Decode(file);
  ASSERT_TRUE(played.ok()) << played.status();
  EXPECT_EQ(played->luma.size(), 65U);
  const std::string longer = FileOf(service, again);
  EXPECT_EQ(FragmentsOf(longer, 6), FragmentsOf(file, 6)) << "41 frames";
  const auto all = reel::testing::Decode(longer);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->luma.size(), 73U);
}

TEST_P(Hold, RefusesByNameWhatCannotBeJoined) {
  Service& service = Shared();
  Caller caller(service.server());
  const std::string film = caller.Finish(FilmSpec()).name();
  EXPECT_THAT(WhyRefused(caller, JoinedTo(film, 216)),
              AllOf(HasSubstr("spec.source.extend.num_frames"), HasSubstr("nearest: 208")));
  v1::VideoSpec other = JoinedTo(film, 8);
  other.mutable_encoding()->set_crf(30);
  EXPECT_THAT(WhyRefused(caller, other), HasSubstr("spec.source.extend.join"));
  v1::VideoSpec wrong = JoinedTo(film, 8);
  wrong.mutable_source()->mutable_extend()->set_source_frames(41);
  EXPECT_THAT(WhyRefused(caller, wrong), HasSubstr("spec.source.extend.source_frames"));
  const std::string joined = caller.Finish(JoinedTo(film, 8)).name();
  EXPECT_THAT(WhyRefused(caller, RetakeOf(joined, 0, 500)), HasSubstr("spec.source.video"));
}

TEST_P(Hold, RefusesByNameWhatCannotBe) {
  Service& service = Shared();
  Caller caller(service.server());
  const std::string film = caller.Finish(FilmSpec()).name();
  EXPECT_THAT(WhyRefused(caller, RetakeOf(film, 500, 500)), HasSubstr("spec.source.retake.end"));
  EXPECT_THAT(WhyRefused(caller, RetakeOf(film, 500, 9000)), HasSubstr("spec.source.retake.end"));
  v1::VideoSpec nothing = RetakeOf(film, 0, 1000);
  nothing.mutable_source()->mutable_retake()->set_keep_sound(true);
  EXPECT_THAT(WhyRefused(caller, nothing), HasSubstr("spec.source.retake.keep_sound"));
  EXPECT_THAT(WhyRefused(caller, ExtensionOf(film, 7)), HasSubstr("num_frames"));
  EXPECT_THAT(WhyRefused(caller, ExtensionOf(film, 8, 57)),
              HasSubstr("spec.source.extend.overlap_frames"));
  v1::VideoSpec sized = ExtensionOf(film, 8);
  sized.set_width(64);
  EXPECT_THAT(WhyRefused(caller, sized), HasSubstr("spec.width"));
  v1::VideoSpec passes = ExtensionOf(film, 8);
  passes.set_preset("two-pass");
  EXPECT_THAT(WhyRefused(caller, passes), HasSubstr("spec.preset"));
  v1::VideoSpec plain = FilmSpec();
  plain.clear_keep_state();
  EXPECT_EQ(caller.Create(ExtensionOf(caller.Finish(plain).name(), 8)).reason(), "STATE_GONE");
  v1::VideoSpec draft = SmallSpec("a red fox");
  draft.clear_num_inference_steps();
  draft.set_preset("two-pass");
  draft.set_height(128);
  draft.set_stop_after_pass(1);
  EXPECT_THAT(WhyRefused(caller, ExtensionOf(caller.Finish(draft).name(), 8, 9)),
              HasSubstr("is a draft"));
}

TEST_P(Hold, OutlivesItsWorkerAndItsServer) {
  Service service(GetParam(), {.step_ms = 100});
  std::string film, undisturbed, retake, whole, joined;
  {
    Caller caller(service.server());
    v1::VideoSpec long_film = FilmSpec();
    long_film.set_num_inference_steps(30);  // what goes on from it takes long enough to be killed
    film = caller.Finish(long_film).name();
    undisturbed = caller.Finish(RetakeOf(film, 500, 1000)).media().sha256();
    whole = caller.Finish(JoinedTo(film, 16)).media().sha256();
    retake = caller.Create(RetakeOf(film, 500, 1000)).video.name();
    joined = caller.Create(JoinedTo(film, 16)).video.name();
    caller.AwaitStep(retake);
    service.KillWorkers();
    EXPECT_TRUE(Eventually([&] { return caller.Get(retake).video.attempt() > 1; }));
    caller.AwaitStep(retake);
  }
  service.Restart(SIGKILL);
  Caller caller(service.server());
  const v1::Video video = caller.Await(retake);
  ASSERT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.DebugString();
  EXPECT_EQ(video.media().sha256(), undisturbed);
  EXPECT_EQ(caller.Await(joined).media().sha256(), whole);
  EXPECT_EQ(caller.Finish(ExtensionOf(film, 8)).source_video(), film);
}

REEL_EVERY_LIFE(Hold);

}  // namespace
}  // namespace reel::tests
