// SPDX-License-Identifier: Apache-2.0
// LTX-2 among the families of models. Torch-free.
#pragma once

#include "model/family.h"

namespace reel::model::ltx2 {

ModelFamily Family();

}  // namespace reel::model::ltx2
