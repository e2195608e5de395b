#pragma once
#include <distribute/ops/cross_entropy.hpp>
