#pragma once
#include <distribute/ops/clip.hpp>
