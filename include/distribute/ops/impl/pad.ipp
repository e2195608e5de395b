#pragma once
#include <distribute/ops/pad.hpp>
