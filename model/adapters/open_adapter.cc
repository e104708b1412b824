// SPDX-License-Identifier: Apache-2.0
#include "model/adapters/open_adapter.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/adapter_fault.h"
#include "model/adapters/adapter_error.h"
#include "model/weights/manifest.h"

namespace reel::model {

absl::StatusOr<OpenedAdapter> OpenAdapter(const std::string& path, const std::string& sha256,
                                          AdapterFamily family, const LinearTable& table) {
  REEL_ASSIGN_OR_RETURN(const AdapterFile file, AdapterFile::Open(path));
  OpenedAdapter opened;
  opened.sha256 = SumOf(file.file().mapped());
  if (!sha256.empty() && sha256 != opened.sha256) {
    return AdapterError(path, "", absl::StrCat("its SHA-256 is ", opened.sha256, ", not ", sha256));
  }
  REEL_RETURN_IF_ERROR(WithFault(CheckFamily(file.file(), family), AdapterFault::kNotForModel));
  auto layers = file.LayersIn(table);
  if (!layers.ok()) return WithFault(layers.status(), AdapterFault::kNotForModel);
  opened.layers = *std::move(layers);
  REEL_ASSIGN_OR_RETURN(const int64_t idle, file.CheckValues());
  opened.idle_layers = static_cast<int>(idle);
  opened.wants_reference = file.reference().has_value();
  return opened;
}

}  // namespace reel::model
