#pragma once
#include <distribute/ops/gather.hpp>
