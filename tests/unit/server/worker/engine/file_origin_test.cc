// SPDX-License-Identifier: Apache-2.0
// Files of jobs say how they were made, as their requests ask.
#include "server/worker/engine/file_origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kernels/base/digest/sha256.h"
#include "tests/fakes/decoded_video.h"
#include "tests/fakes/mp4_boxes.h"
#include "tests/unit/server/worker/engine/engine_fixture.h"

namespace reel::worker {
namespace {

using mp4::kOriginUuid;
using mp4::kXmpUuid;
using mp4::UuidPayload;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(KindOf, IsWhatTwoDevicesOfAKindShare) {
  EXPECT_EQ(KindOf("cpu"), "cpu");
  EXPECT_EQ(KindOf("cuda:0 NVIDIA H200"), "NVIDIA H200");
  EXPECT_EQ(KindOf("cuda:3 NVIDIA H200"), "NVIDIA H200");
  EXPECT_EQ(KindOf("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6 NVIDIA H200"), "NVIDIA H200");
  EXPECT_EQ(KindOf("cuda:0+cuda:1 NVIDIA H200"), "2 x NVIDIA H200");
}

class EngineOriginTest : public EngineTest {
 protected:
  // The file of one job of this origin.
  std::string File(const std::string& name, model::GenerationSpec spec, model::Origin origin) {
    spec.encoding.origin = origin;
    model::GenerationSpec resolved = Resolved(spec);
    if (test_card_.sound) resolved.sound = true;
    engine().Post(Job(name, resolved));
    EXPECT_TRUE(events_.WaitForEnd(name));
    EXPECT_TRUE(events_.ended(name).error.ok()) << events_.ended(name).error;
    return events_.file(name);
  }
  static model::GenerationSpec Film() {
    model::GenerationSpec spec;
    spec.prompt = "a secret fox";
    spec.seed = 7;
    spec.preset = "two-pass";
    return spec;
  }
};

TEST_F(EngineOriginTest, IsAMarkWithoutTheRequestUnlessMoreOrNothingIsAskedFor) {
  Start();
  const model::GenerationSpec spec = Spec("a secret fox");
  const std::string unset = File("unset", spec, model::Origin::kUnspecified);
  EXPECT_EQ(unset, File("mark", spec, model::Origin::kMark));
  EXPECT_THAT(UuidPayload(unset, kXmpUuid), HasSubstr("trainedAlgorithmicMedia"));
  EXPECT_THAT(UuidPayload(unset, kXmpUuid), HasSubstr("test card"));
  EXPECT_THAT(unset, Not(HasSubstr("secret fox")));
  EXPECT_THAT(UuidPayload(unset, kOriginUuid), IsEmpty());
  const std::string none = File("none", spec, model::Origin::kNone);
  EXPECT_THAT(mp4::TypesOf(none), Not(HasSubstr("uuid")));
  EXPECT_TRUE(reel::testing::Decode(unset).ok());
}

TEST_F(EngineOriginTest, OfSpecSaysTheRequestAndTheSameEachTime) {
  Start();
  const model::GenerationSpec spec = Spec("a secret fox");
  const std::string file = File("a", spec, model::Origin::kSpec);
  EXPECT_EQ(file, File("b", spec, model::Origin::kSpec));
  EXPECT_THAT(UuidPayload(file, kXmpUuid), Not(HasSubstr("secret fox")));
  const std::string origin = UuidPayload(file, kOriginUuid);
  EXPECT_THAT(origin, HasSubstr(R"("prompt":"a secret fox")"));
  EXPECT_THAT(origin, HasSubstr(R"("device":"cpu")"));
  EXPECT_THAT(mp4::TypesOf(file), StartsWith("ftyp moov uuid uuid moof mdat moof"));
}

TEST_F(EngineOriginTest, OfAPromotedDraftIsThatOfTheWholeVideo) {
  Start();
  model::GenerationSpec draft = Film();
  draft.stop_after_pass = 1;
  draft.keep_state = true;
  const std::string small = File("draft", draft, model::Origin::kSpec);
  EXPECT_THAT(UuidPayload(small, kOriginUuid), HasSubstr(R"("stop_after_pass":1)"));
  model::GenerationSpec promotion = Film();
  const std::string state = events_.state("draft");
  promotion.source = model::Source{.video = "videos/draft",
                                   .begin = model::Source::Begin::kPromote,
                                   .state_sha256 = Sha256Hex(state),
                                   .state = std::make_shared<const std::string>(state)};
  const std::string promoted = File("promoted", promotion, model::Origin::kSpec);
  EXPECT_EQ(promoted, File("whole", Film(), model::Origin::kSpec));
  EXPECT_THAT(UuidPayload(promoted, kOriginUuid), Not(HasSubstr("stop_after_pass")));
}

class EngineSoundOriginTest : public EngineOriginTest {
 protected:
  EngineSoundOriginTest() { test_card_.sound = true; }
};

TEST_F(EngineSoundOriginTest, StandsBehindTheHeadOfAFileWithSoundToo) {
  Start();
  const std::string file = File("a", Film(), model::Origin::kSpec);
  EXPECT_THAT(mp4::TypesOf(file), StartsWith("ftyp moov uuid uuid moof mdat moof"));
  const auto played = reel::testing::Decode(file);
  ASSERT_TRUE(played.ok()) << played.status();
  EXPECT_GT(played->sample_rate, 0);
}

}  // namespace
}  // namespace reel::worker
