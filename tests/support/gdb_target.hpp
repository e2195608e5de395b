#pragma once
/// A function in which a debugger can stop.

#include <distribute/autograd/variable.hpp>

int stop_here(const distribute::Tensor& matrix, const distribute::Tensor& none,
              const distribute::Variable& kernel, const distribute::Shape& shape);
