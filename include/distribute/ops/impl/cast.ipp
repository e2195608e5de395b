#pragma once
#include <distribute/ops/cast.hpp>
