#pragma once
#include <distribute/ops/concat.hpp>
