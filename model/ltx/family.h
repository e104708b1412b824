// SPDX-License-Identifier: Apache-2.0
// LTX-Video among the families of models. Torch-free.
#pragma once

#include "model/family.h"

namespace reel::model::ltx {

ModelFamily Family();

}  // namespace reel::model::ltx
