// SPDX-License-Identifier: Apache-2.0
#include "kernels/open_device.h"

#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reel::kernels {
namespace {

using testing::HasSubstr;

constexpr char kNoLibrary[] = "/no/such/folder/libreel_cuda.so";

TEST(OpenDevice, ACpuNeedsNoLibraryAndHasItsVariants) {
  const auto opened = OpenDevice("cpu", kNoLibrary);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->stream.device, -1);
  EXPECT_THAT(opened->catalog.VariantNames("rms_norm"), testing::Contains("cpu"));
}

TEST(OpenDevice, AutoFallsBackToTheCpuWhereNoGpuIs) {
  const auto opened = OpenDevice("auto", kNoLibrary);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->stream.device, -1);
}

TEST(OpenDevice, NamesTheLibraryThatIsMissing) {
  const absl::Status status = OpenDevice("cuda:0", kNoLibrary).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr(kNoLibrary));
}

TEST(OpenDevice, NamesTheLegalNames) {
  for (const std::string name : {"", "gpu", "cuda", "cuda:", "cuda:-1", "cuda:1x", "CPU"}) {
    const absl::Status status = OpenDevice(name, kNoLibrary).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(std::string(status.message()), HasSubstr("cuda:N"));
  }
}

TEST(OpenDevice, OfUuidsShowsTheProcessThoseDevicesAlone) {
  const std::string one = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", other = "GPU-5a1e0c44-0b6d";
  EXPECT_EQ(OpenDevice(one + "+" + other, kNoLibrary).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(getenv("CUDA_VISIBLE_DEVICES"), one + "," + other);
}

TEST(OpenDevice, AGroupOfCpusIsOneDeviceWithPeers) {
  const auto opened = OpenDevice("cpu+cpu", kNoLibrary);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->stream.device, -1);
  EXPECT_THAT(opened->peers, testing::ElementsAre(-1));
  EXPECT_THAT(opened->catalog.VariantNames("rms_norm"), testing::Contains("cpu"));
  EXPECT_THAT(OpenDevice("cpu+cpu+cpu+cpu", kNoLibrary)->peers, testing::ElementsAre(-1, -1, -1));
  EXPECT_THAT(OpenDevice("cpu", kNoLibrary)->peers, testing::IsEmpty());
}

TEST(TimerFor, ACpuIsTimedByTheClock) {
  const auto opened = OpenDevice("cpu", kNoLibrary);
  ASSERT_TRUE(opened.ok()) << opened.status();
  const auto timer = TimerFor(*opened);
  timer->Start("rms_norm", "cpu", opened->stream);
  timer->Stop(opened->stream);
  const auto times = timer->Take();
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].calls, 1);
}

TEST(CudaLibraryPath, LiesBesideTheFolderOfTheProgram) {
  EXPECT_THAT(CudaLibraryPath(), testing::EndsWith("/lib/libreel_cuda.so"));
}

}  // namespace
}  // namespace reel::kernels
