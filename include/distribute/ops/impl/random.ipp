#pragma once
#include <distribute/ops/random.hpp>
