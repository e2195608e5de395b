#pragma once
#include <distribute/ops/softmax.hpp>
