// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/generator_position.h"

#include <cstdint>
#include <cstring>

#include "absl/status/status.h"

namespace reel::model {
namespace {

// libtorch takes positions that lie behind the generator's table of numbers. A real one is fresh,
// or the numbers that were drawn and those that are left add up to the table.
bool IsInsideItsTable(const at::mt19937_data_pod& data) {
  const bool is_fresh = data.left_ == 1 && data.next_ == 0;
  const int64_t all = int64_t{data.left_} + data.next_;
  return is_fresh || (data.left_ >= 1 && data.next_ >= 1 && all == at::MERSENNE_STATE_N + 1);
}

}  // namespace

std::string PositionOf(const at::Generator& generator) {
  const at::Tensor state = generator.get_state().contiguous();
  return {static_cast<const char*>(state.const_data_ptr()), state.nbytes()};
}

absl::StatusOr<at::Generator> GeneratorAt(const std::string& position) {
  const auto refused = absl::FailedPreconditionError("a generator cannot have such a position");
  at::Generator generator = at::detail::createCPUGenerator(0);
  at::Tensor state = generator.get_state();
  if (state.nbytes() != position.size()) return refused;
  std::memcpy(state.mutable_data_ptr(), position.data(), position.size());
  try {
    generator.set_state(state);
  } catch (const c10::Error&) {
    return refused;
  }
  auto* const own = at::check_generator<at::CPUGeneratorImpl>(generator);
  if (!IsInsideItsTable(own->engine().data())) return refused;
  return generator;
}

}  // namespace reel::model
