// SPDX-License-Identifier: Apache-2.0
// Reads the JSON of a safetensors header event by event, without a document: a hostile header needs
// no more memory than its text, and duplicate names are found.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "model/weights/safetensors_header.h"
#include "model/weights/weight_header.h"
#include "nlohmann/json.hpp"

namespace reel::model {

// Offsets in `header` are still relative to the data; ParseSafetensorsHeader checks them.
class SafetensorsSax : public nlohmann::json_sax<nlohmann::json> {
 public:
  SafetensorsSax(const SafetensorsLimits& limits, WeightHeader& header)
      : limits_(limits), header_(header) {}

  // The reason why parsing stopped.
  const absl::Status& status() const { return status_; }

  bool null() override { return Unexpected("null"); }
  bool boolean(bool) override { return Unexpected("a boolean"); }
  bool number_integer(number_integer_t) override { return Unexpected("a negative number"); }
  bool number_unsigned(number_unsigned_t value) override;
  bool number_float(number_float_t, const string_t&) override;
  bool string(string_t& value) override;
  bool binary(binary_t&) override { return Unexpected("binary data"); }
  bool start_object(size_t) override;
  bool key(string_t& name) override;
  bool end_object() override;
  bool start_array(size_t) override;
  bool end_array() override;
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override;

 private:
  // The meaning of the next value.
  enum class At { kStart, kRoot, kMetadata, kTensor, kShape, kOffsets, kEnd };
  enum Part : unsigned {
    kUnknownPart = 0,
    kDtype = 1,
    kShapePart = 2,
    kOffsetsPart = 4,
    kAllParts = 7
  };

  bool Fail(const std::string& message);
  bool Unexpected(const char* what);
  bool RootKey(const std::string& name);
  bool MetadataKey(const std::string& name);
  bool TensorKey(const std::string& name);
  bool EndTensor();
  TensorEntry& tensor() { return header_.tensors.back(); }

  const SafetensorsLimits limits_;
  WeightHeader& header_;
  absl::Status status_;
  At at_ = At::kStart;
  bool in_metadata_ = false;  // the root key read last
  bool saw_metadata_ = false;
  std::string key_;
  unsigned parts_ = 0;
  std::vector<int64_t> offsets_;
  std::set<std::string> names_;
};

}  // namespace reel::model
