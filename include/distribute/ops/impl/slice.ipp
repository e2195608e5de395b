#pragma once
#include <distribute/ops/slice.hpp>
