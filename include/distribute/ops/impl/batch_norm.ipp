#pragma once
#include <distribute/ops/batch_norm.hpp>
