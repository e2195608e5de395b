#pragma once
#include <distribute/ops/layer_norm.hpp>
