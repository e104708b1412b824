// SPDX-License-Identifier: Apache-2.0
// The whole command against a fake server, in this process.
#include "client/command/command_line.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fakes/fake_video_service.h"

namespace reel::client {
namespace {

namespace fs = std::filesystem;

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class CommandLineTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "command_line_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    environment_.version = "0.1.0";
    environment_.server = server_.address();
  }
  void TearDown() override { fs::remove_all(folder_); }

  int Run(const std::vector<std::string>& arguments) {
    std::FILE* out = std::fopen((folder_ + "/out").c_str(), "wb");
    std::FILE* err = std::fopen((folder_ + "/err").c_str(), "wb");
    const int code = RunCommandLine(arguments, environment_, out, err);
    std::fclose(out);
    std::fclose(err);
    out_ = ReadAll(folder_ + "/out");
    err_ = ReadAll(folder_ + "/err");
    return code;
  }

  fakes::FakeVideoService server_;
  Environment environment_;
  std::string folder_, out_, err_;
};

TEST_F(CommandLineTest, GenerateWritesTheFileAndSaysOnlyWhere) {
  const std::string path = folder_ + "/a.mp4";
  EXPECT_EQ(Run({"generate", "a lighthouse", "-o", path}), 0);
  EXPECT_EQ(out_, path + "\n");
  EXPECT_EQ(err_, "");
  EXPECT_EQ(ReadAll(path), server_.media());
}

TEST_F(CommandLineTest, GenerateSendsEveryFlag) {
  EXPECT_EQ(Run({"generate",
                 "a lighthouse",
                 "--model",
                 "m",
                 "--negative_prompt",
                 "fog",
                 "--width",
                 "64",
                 "--height",
                 "32",
                 "--frames",
                 "9",
                 "--fps",
                 "12.5",
                 "--steps",
                 "4",
                 "--guidance",
                 "0",
                 "--seed",
                 "4294967297",
                 "--preset",
                 "fast",
                 "--kernels",
                 "reference",
                 "--kernel",
                 "rms_norm=loops",
                 "--kernel",
                 "rope=cpu",
                 "--preview-every",
                 "2",
                 "--preview_dir",
                 folder_ + "/previews",
                 "--priority",
                 "high",
                 "--timeout",
                 "1m30s",
                 "--label",
                 "a=b=c",
                 "--request-id",
                 "id",
                 "--crf",
                 "0",
                 "--speed",
                 "faster",
                 "--worker",
                 "gpu0",
                 "--detach",
                 "-o",
                 folder_ + "/a.mp4"}),
            0)
      << err_;
  const v1::GenerateVideoRequest request = server_.asked().generates.at(0);
  EXPECT_EQ(request.ShortDebugString(),
            "spec { model: \"m\" prompt: \"a lighthouse\" negative_prompt: \"fog\" width: 64 "
            "height: 32 num_frames: 9 frame_rate: 12.5 num_inference_steps: 4 guidance_scale: 0 "
            "seed: 4294967297 kernels { profile: \"reference\" variants { key: \"rms_norm\" value: "
            "\"loops\" } variants { key: \"rope\" value: \"cpu\" } } preview { every_steps: 2 } "
            "encoding { crf: 0 speed: ENCODING_SPEED_FASTER } preset: \"fast\" worker: \"gpu0\" } "
            "request_id: \"id\" priority: PRIORITY_HIGH detached: true timeout { seconds: 90 } "
            "labels { key: \"a\" value: \"b=c\" }");
}

TEST_F(CommandLineTest, GenerateLeavesDefaultsToTheServer) {
  EXPECT_EQ(Run({"generate", "x", "-o", folder_ + "/a.mp4"}), 0);
  v1::GenerateVideoRequest request = server_.asked().generates.at(0);
  request.clear_request_id();
  EXPECT_EQ(request.ShortDebugString(), "spec { prompt: \"x\" }");
}

TEST_F(CommandLineTest, GenerateStreamsToStdout) {
  EXPECT_EQ(Run({"generate", "x", "-o", "-"}), 0);
  EXPECT_EQ(out_, server_.media());
  EXPECT_EQ(Run({"generate", "x", "-o", "-", "--json"}), 2);
}

TEST_F(CommandLineTest, GeneratePrintsOneJsonObject) {
  const std::string path = folder_ + "/a.mp4";
  EXPECT_EQ(Run({"generate", "x", "-o", path, "--json"}), 0);
  EXPECT_EQ(out_.find("{\"video\":{\"name\":\"videos/fake1\""), 0u);
  EXPECT_NE(out_.find(",\"path\":\"" + path + "\"}\n"), std::string::npos);
  EXPECT_EQ(std::count(out_.begin(), out_.end(), '\n'), 1);
}

TEST_F(CommandLineTest, GenerateDrawsOneLineOnATerminal) {
  environment_.live = true;
  environment_.width = [] { return 60; };
  EXPECT_EQ(Run({"generate", "x", "-o", folder_ + "/a.mp4"}), 0);
  EXPECT_NE(err_.find("\r\033[Kqueued     ["), std::string::npos);
  EXPECT_NE(err_.find("\r\033[Kdenoise    ["), std::string::npos);
  EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1);  // the summary
  EXPECT_EQ(Run({"generate", "x", "-o", folder_ + "/a.mp4", "-q"}), 0);
  EXPECT_EQ(err_, "");
}

TEST_F(CommandLineTest, ErrorsGoToStderrAndLeaveNoFile) {
  fakes::Refusal refusal = fakes::MakeRefusal(3, "INVALID_SPEC", "Invalid.");
  server_.RefuseNext("GenerateVideo", fakes::AddViolation(refusal, "spec.width", "Nearest: 704."));
  EXPECT_EQ(Run({"generate", "x", "-o", folder_ + "/a.mp4"}), 3);
  EXPECT_EQ(out_, "");
  EXPECT_NE(err_.find("  --width: Nearest: 704.\n"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ + "/a.mp4.part"));
  server_.RefuseNext("GenerateVideo", refusal);
  EXPECT_EQ(Run({"generate", "x", "-o", folder_ + "/a.mp4", "--json", "-q"}), 3);
  EXPECT_EQ(out_.find("{\"error\":{\"code\":\"INVALID_ARGUMENT\""), 0u);
  EXPECT_EQ(err_, "");
}

TEST_F(CommandLineTest, RefusesAnOutputThatCannotBeBeforeItRenders) {
  EXPECT_EQ(Run({"generate", "x", "-o", folder_ + "/no/a.mp4"}), 3);
  EXPECT_TRUE(server_.asked().generates.empty());
}

TEST_F(CommandLineTest, JobsAreMadeListedAndEnded) {
  EXPECT_EQ(Run({"create", "x"}), 0);
  EXPECT_EQ(out_, "videos/fake1\n");
  EXPECT_EQ(Run({"create", "x", "--validate_only"}), 0);
  EXPECT_EQ(out_, "valid\n");
  EXPECT_EQ(Run({"list", "--state", "succeeded"}), 0);
  EXPECT_EQ(out_.find("NAME "), 0u);
  EXPECT_EQ(Run({"get", "fake1", "--json"}), 0);
  EXPECT_EQ(out_.find("{\"name\":\"videos/fake1\""), 0u);
  EXPECT_EQ(Run({"get", "videos/other"}), 8);
  EXPECT_EQ(Run({"cancel", "other", "fake1"}), 8);
  EXPECT_EQ(out_, "videos/fake1  running\n");
  EXPECT_EQ(Run({"delete", "fake1"}), 0);
  EXPECT_EQ(Run({"estimate", "x"}), 0);
  EXPECT_NE(out_.find("would be taken"), std::string::npos);
}

TEST_F(CommandLineTest, VideosAreWatchedAndDownloaded) {
  const std::string path = folder_ + "/a.mp4";
  EXPECT_EQ(Run({"watch", "fake1"}), 0);
  EXPECT_TRUE(server_.asked().watches.at(0).without_media());
  EXPECT_EQ(Run({"watch", "fake1", "-o", path}), 0);
  EXPECT_EQ(ReadAll(path), server_.media());
  std::ofstream(path + ".part") << server_.media().substr(0, 1000);
  EXPECT_EQ(Run({"download", "fake1", "-o", path}), 0);
  EXPECT_EQ(out_, path + "\n");
  EXPECT_EQ(server_.asked().downloads.at(0).read_offset(), 1000);
}

TEST_F(CommandLineTest, TheServerIsDescribed) {
  EXPECT_EQ(Run({"info"}), 0);
  EXPECT_NE(out_.find("cpu0    ready"), std::string::npos);
  EXPECT_EQ(Run({"models"}), 0);
  EXPECT_NE(out_.find("testcard (default)"), std::string::npos);
  EXPECT_EQ(Run({"kernels"}), 0);
  EXPECT_NE(out_.find("cpu0*"), std::string::npos);
  EXPECT_EQ(Run({"doctor"}), 0);
  EXPECT_EQ(out_.find("problem"), std::string::npos);
}

TEST_F(CommandLineTest, DoctorSaysWhatIsWrong) {
  server_.Shutdown();
  EXPECT_EQ(Run({"doctor"}), 4);
  EXPECT_NE(out_.find("problem  connection"), std::string::npos);
  EXPECT_NE(out_.find("--server"), std::string::npos);
}

TEST_F(CommandLineTest, MistakesAreUsageErrors) {
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"paint"},
                                             {"generate"},
                                             {"generate", "x", "--width", "wide"},
                                             {"generate", "x", "--label", "nothing"},
                                             {"generate", "x", "--timeout", "0"},
                                             {"generate", "x", "--speed", "warp"},
                                             {"generate", "x", "--preview-every", "2"},
                                             {"list", "--state", "lost"}}) {
    EXPECT_EQ(Run(arguments), 2);
    EXPECT_EQ(err_.find("error: "), 0u);
    EXPECT_EQ(out_, "");
  }
  EXPECT_EQ(Run({"generate", "x", "--widht", "3"}), 2);
  EXPECT_NE(err_.find("did you mean --width?"), std::string::npos);
}

TEST_F(CommandLineTest, HelpAndVersionNeedNoServer) {
  server_.Shutdown();
  EXPECT_EQ(Run({"--version"}), 0);
  EXPECT_EQ(out_, "reel 0.1.0\n");
  EXPECT_EQ(Run({"help"}), 0);
  EXPECT_NE(out_.find("generate"), std::string::npos);
  EXPECT_EQ(Run({"help", "generate"}), 0);
  EXPECT_NE(out_.find("--negative-prompt"), std::string::npos);
}

}  // namespace
}  // namespace reel::client
