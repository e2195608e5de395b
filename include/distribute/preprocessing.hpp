#pragma once
/// The annex preprocessing.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/preprocessing/categories.hpp>
#include <distribute/preprocessing/normalization.hpp>
#include <distribute/preprocessing/random_images.hpp>
#include <distribute/preprocessing/text_vectorization.hpp>
#include <distribute/preprocessing/tokenizers.hpp>

#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/preprocessing_bodies.hpp>
#endif

#include <distribute/base/detail/macros_back.inc>
