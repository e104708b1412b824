// SPDX-License-Identifier: Apache-2.0
// The values or codes of one stored tensor, as libtorch's.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "model/bridge/aten.h"
#include "model/bridge/rows.h"
#include "model/weights/stored_tensor.h"

namespace reel::model {

inline constexpr int64_t kReadAtOnce = int64_t{1} << 24;  // elements, 64 MiB of fp32

// True for the types that weights of networks have.
bool HasValues(const StoredTensor& stored);

// The type that its values come in: its own, or fp32 of codes.
at::ScalarType ValueTypeOf(const StoredTensor& stored);

// Writes the values from element `first` on into `out`, which is contiguous, on the host and of
// that type. Codes are read by whole blocks. DATA_LOSS: codes stand for numbers that are not
// finite.
absl::Status CopyValues(const StoredTensor& stored, int64_t first, const at::Tensor& out);

// All of them in a type and on a device. Codes are widened piece by piece, so that a load needs no
// tensor in fp32. The file's pages are dropped.
absl::StatusOr<at::Tensor> ReadStored(const StoredTensor& stored, const at::TensorOptions& held);

// Whether it is a matrix of e4m3 codes, of which each row has one scale, and nothing is added.
bool HasE4m3Codes(const StoredTensor& stored);

// Those, on a device. DATA_LOSS: codes that are not numbers. Drops the file's pages.
absl::StatusOr<CodedWeight> ReadE4m3Codes(const StoredTensor& stored, at::Device device);

}  // namespace reel::model
