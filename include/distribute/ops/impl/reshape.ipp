#pragma once
#include <distribute/ops/reshape.hpp>
