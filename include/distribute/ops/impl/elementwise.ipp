#pragma once
#include <distribute/ops/elementwise.hpp>
