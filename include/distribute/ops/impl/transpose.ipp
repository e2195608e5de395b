#pragma once
#include <distribute/ops/transpose.hpp>
