#pragma once
/// All bodies of the annex language_models.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/language_models/impl/causal_lm.ipp>
#include <distribute/language_models/impl/generation.ipp>
#include <distribute/language_models/impl/gpt2.ipp>
#include <distribute/language_models/impl/group_query_attention.ipp>
#include <distribute/language_models/impl/llama.ipp>
#include <distribute/language_models/impl/model_config.ipp>
#include <distribute/language_models/impl/packing.ipp>
#include <distribute/language_models/impl/rotary_embedding.ipp>

#include <distribute/base/detail/macros_back.inc>
