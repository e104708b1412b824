// SPDX-License-Identifier: Apache-2.0
// Pictures whose rows the ranks of a group decode: the parts, the neighbours' rows beside them, and
// the decoders of all generations against one device.
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "model/bridge/torch_guard.h"
#include "model/frames/row_part.h"
#include "model/ltx/read_vae_config.h"
#include "model/vae/group_decode.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx {
namespace {

constexpr int64_t kRowsAt = 3;  // the dimension

std::vector<at::Device> SoManyCpus(int ranks) {
  return std::vector<at::Device>(static_cast<size_t>(ranks), at::kCPU);
}

TEST(GroupRows, AreDividedAsEvenlyAsCanBe) {
  struct Case {
    int64_t rows;
    std::vector<int64_t> counts;
  };
  for (const auto& [rows, counts] : std::vector<Case>{{5, {3, 2}},
                                                      {2, {1, 1}},
                                                      {1, {1, 0}},
                                                      {5, {2, 2, 1}},
                                                      {16, {4, 4, 4, 4}},
                                                      {22, {6, 6, 5, 5}},
                                                      {15, {4, 4, 4, 3}},
                                                      {3, {1, 1, 1, 0}},
                                                      {1, {1, 0, 0, 0}}}) {
    RankCrew crew(SoManyCpus(static_cast<int>(counts.size())));
    int64_t next = 0, with_rows = 0;
    for (int rank = 0; rank < crew.size(); ++rank) {
      const RowPart part = RowPart::Of(crew, rank, rows);
      EXPECT_EQ(part.first, next);
      EXPECT_EQ(part.count, counts[static_cast<size_t>(rank)]) << rank << " of " << rows;
      EXPECT_EQ(part.all, rows);
      next += part.count;
      with_rows += part.count > 0 ? 1 : 0;
    }
    EXPECT_EQ(next, rows);
    EXPECT_EQ(DecodingRanks(&crew, rows), with_rows);
  }
  EXPECT_EQ(DecodingRanks(nullptr, 16), 1);
}

class GroupRowsOf : public ::testing::TestWithParam<int> {
 protected:
  struct Picture {
    int64_t channels = 0, latents = 0, scale = 0;
    at::MemoryFormat memory;
  };

  // Each rank's rows, with the neighbours' beside them, are those of the whole picture with zeros
  // around it, or with itself, reflected.
  static void ExpectNeighbours(RankCrew& crew, const Picture& picture, RowPart::Beyond beyond) {
    const auto [channels, latents, scale, memory] = picture;
    const int64_t all = latents * scale;
    const at::Tensor whole = Draw(7, {1, channels, 3, all, 4}).contiguous(memory);
    const at::Tensor zeros = at::zeros({1, channels, 3, 1, 4});
    const bool reflects = beyond == RowPart::Beyond::kReflected;
    const at::Tensor above = reflects ? whole.slice(kRowsAt, 1, 2) : zeros;
    const at::Tensor below = reflects ? whole.slice(kRowsAt, all - 2, all - 1) : zeros;
    const at::Tensor padded = at::cat({above, whole, below}, kRowsAt);
    std::vector<at::Tensor> made(static_cast<size_t>(crew.size()));
    crew.Run([&](int rank) {
      const RowPart part = RowPart::Of(crew, rank, latents);
      if (part.count == 0) return;
      const at::Tensor own = part.Own(whole, scale).contiguous(memory);
      // Those of one call are not those of the next one.
      part.WithEdges(own + 1, beyond);
      made[static_cast<size_t>(rank)] = part.WithEdges(own, beyond);
    });
    for (int rank = 0; rank < DecodingRanks(&crew, latents); ++rank) {
      const RowPart part = RowPart::Of(crew, rank, latents);
      const int64_t begin = part.first * scale, end = (part.first + part.count) * scale;
      const at::Tensor& rows = made[static_cast<size_t>(rank)];
      EXPECT_TRUE(rows.equal(padded.slice(kRowsAt, begin, end + 2)))
          << "rank " << rank << " of " << latents << " latents, " << channels << " channels";
      EXPECT_TRUE(rows.is_contiguous(memory));
    }
  }
};

// In either memory, and where pixels are of 16 bytes or not.
TEST_P(GroupRowsOf, HaveTheNeighboursRowsBesideThem) {
  const c10::InferenceMode no_gradients;
  RankCrew crew(SoManyCpus(GetParam()));
  for (const auto memory : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast3d}) {
    for (const int64_t channels : {3, 8}) {
      for (const int64_t scale : {1, 2}) {
        for (const int64_t latents : {1, 2, 3, 4, 5, 9}) {
          const Picture picture = {channels, latents, scale, memory};
          ExpectNeighbours(crew, picture, RowPart::Beyond::kZeros);
          if (latents * scale < 2) continue;
          ExpectNeighbours(crew, picture, RowPart::Beyond::kReflected);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, GroupRowsOf, ::testing::Values(2, 3, 4));

// A decoder, and the tensors that it is made of.
struct LooseDecoder {
  TensorsByName tensors;
  std::unique_ptr<VaeDecoder> decoder;
};

std::unique_ptr<LooseDecoder> LoadDecoder(const TinyFolder& folder) {
  const auto config = ReadVaeConfig(*ReadJsonFile(folder.path() + "/vae/config.json"), "vae");
  EXPECT_TRUE(config.ok()) << config.status();
  const auto stored = WeightSet::OpenFolder(folder.path() + "/vae", "diffusion_pytorch_model");
  auto loose = std::make_unique<LooseDecoder>();
  Weights weights(*stored, at::kFloat, at::kCPU, &loose->tensors);
  loose->decoder = std::make_unique<VaeDecoder>(weights, *config);
  return loose;
}

// What a decode made, and what it has drawn of the noise.
struct Decoded {
  std::vector<at::Tensor> pieces;
  at::Tensor next_noise;
  int64_t calls = 0;
};

using DecodeStart = std::function<FrameSourcePtr(const Ops& ops, const DecodeInputs& inputs)>;

Decoded DecodeBy(const DecodeStart& begin, const DecodePieces& pieces, PlanSource source) {
  const TestRun test(source);
  kernels::KernelCounters counters;
  const kernels::Execution run{test.plan, counters, nullptr, test.run.stream};
  const Ops ops(run);
  at::Generator noise = at::detail::createCPUGenerator(7);
  const FrameSourcePtr chain = begin(ops, {pieces, 0.05, noise});
  Decoded made;
  for (bool last = false; !last;) {
    const Frames frames = chain->Next(ops);
    made.pieces.push_back(frames.x);
    last = frames.last;
  }
  made.next_noise = at::randn({4}, noise);
  for (const auto& use : counters.Uses()) made.calls += use.calls;
  return made;
}

class GroupDecode : public ::testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  static std::string version() { return std::get<0>(GetParam()); }
  static int ranks() { return std::get<1>(GetParam()); }

  std::vector<const VaeDecoder*> Decoders() const {
    return std::vector<const VaeDecoder*>(static_cast<size_t>(ranks()), own_->decoder.get());
  }
  Decoded OnOne(const at::Tensor& latents, const DecodePieces& by, PlanSource source) const {
    return DecodeBy(
        [&](const Ops& ops, const DecodeInputs& inputs) {
          return own_->decoder->Decode(ops, latents, inputs);
        },
        by, source);
  }
  Decoded OnGroup(const at::Tensor& latents, const DecodePieces& by, PlanSource source) {
    return DecodeBy(
        [&](const Ops& ops, const DecodeInputs& inputs) {
          return DecodeOnGroup(crew_, Decoders(), ops, latents, inputs);
        },
        by, source);
  }

  const c10::InferenceMode no_gradients_;
  const TinyFolder folder_ = TinyFolder(version());
  const std::unique_ptr<LooseDecoder> own_ = LoadDecoder(folder_);
  RankCrew crew_ = RankCrew(SoManyCpus(ranks()));
};

// Piece by piece and call by call; of fewer rows than ranks as many ranks as rows have any.
TEST_P(GroupDecode, IsThatOfOneDevice) {
  const bool on_cpu = DeviceUnderTest()->stream.device < 0;  // a GPU's take no tensors of a CPU
  for (const int64_t rows : {1, 2, 3, 6}) {
    const at::Tensor latents = Draw(32, {1, 8, 3, rows, 2});
    const DecodePieces by = rows % 2 == 0 ? DecodePieces{1, 1} : DecodePieces{3, 2};
    const PlanSource source = on_cpu && rows == 6 ? PlanSource::kKernels : PlanSource::kLibtorch;
    const Decoded expected = OnOne(latents, by, source), made = OnGroup(latents, by, source);
    ASSERT_EQ(made.pieces.size(), expected.pieces.size());
    for (size_t i = 0; i < made.pieces.size(); ++i) {
      EXPECT_LT(Compare(version() + " on " + std::to_string(ranks()) + ", rows " +
                            std::to_string(rows) + ", piece " + std::to_string(i),
                        made.pieces[i], expected.pieces[i])
                    .relative,
                1e-5);
    }
    EXPECT_TRUE(made.next_noise.equal(expected.next_noise));
    EXPECT_EQ(made.calls, DecodingRanks(&crew_, rows) * expected.calls);
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, GroupDecode,
                         ::testing::Combine(::testing::Values("0.9.0", "0.9.1", "0.9.5"),
                                            ::testing::Values(2, 3, 4)));

class FailingDecode : public GroupDecode {
 protected:
  // Of one rank's decoder a layer breaks when so many pieces have left.
  void ExpectFailure(const Decoded& expected, int rank, const std::string& layer,
                     size_t good_pieces) {
    const TestRun test;
    const Ops ops(test.run);
    const auto broken = LoadDecoder(folder_);
    std::vector<const VaeDecoder*> decoders = Decoders();
    decoders[static_cast<size_t>(rank)] = broken->decoder.get();
    at::Generator noise = at::detail::createCPUGenerator(7);
    const FrameSourcePtr chain =
        DecodeOnGroup(crew_, decoders, ops, latents_, {{1, 1}, 0.05, noise});
    for (size_t i = 0; i < good_pieces; ++i) {
      EXPECT_TRUE(chain->Next(ops).x.equal(expected.pieces[i]));
    }
    broken->tensors.at("decoder." + layer + ".conv.weight").resize_({0});
    const absl::Status failed = TorchGuard([&] {
      chain->Next(ops);
      return absl::OkStatus();
    });
    EXPECT_EQ(failed.code(), absl::StatusCode::kInternal) << failed << ", " << layer;
  }

  const at::Tensor latents_ = Draw(32, {1, 8, 3, 5, 1});
};

// In the middle of the layers, where the others wait for its rows, and in the last one; in the
// first piece, and when one has left.
TEST_P(FailingDecode, IsThatOfEveryRankAndTheNextOneIsWhole) {
  const Decoded expected = OnGroup(latents_, {1, 1}, PlanSource::kLibtorch);
  ASSERT_GE(expected.pieces.size(), 2u);
  for (int rank = 0; rank < ranks(); ++rank) {
    ExpectFailure(expected, rank, "mid_block.resnets.0.conv2", 0);
    ExpectFailure(expected, rank, "conv_out", 0);
    ExpectFailure(expected, rank, "conv_out", 1);
    const Decoded next = OnGroup(latents_, {1, 1}, PlanSource::kLibtorch);
    for (size_t i = 0; i < expected.pieces.size(); ++i) {
      EXPECT_TRUE(next.pieces[i].equal(expected.pieces[i])) << "rank " << rank << ", piece " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, FailingDecode,
                         ::testing::Combine(::testing::Values("0.9.1"),
                                            ::testing::Values(2, 3, 4)));

}  // namespace
}  // namespace reel::model::ltx
