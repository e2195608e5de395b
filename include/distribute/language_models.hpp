#pragma once
/// The annex language_models.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/language_models/causal_lm.hpp>
#include <distribute/language_models/gpt2.hpp>
#include <distribute/language_models/group_query_attention.hpp>
#include <distribute/language_models/llama.hpp>

#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/language_models_bodies.hpp>
#endif

#include <distribute/base/detail/macros_back.inc>
