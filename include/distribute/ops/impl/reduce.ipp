#pragma once
#include <distribute/ops/reduce.hpp>
