#pragma once
#include <distribute/ops/unary.hpp>
