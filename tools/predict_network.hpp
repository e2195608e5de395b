#pragma once
/// The networks that `distribute predict` knows, made to fit a checkpoint.

#include <distribute/nn/module.hpp>

#include <memory>
#include <string>
#include <vector>

namespace distribute_tools {

/// What --model takes.
const std::vector<std::string>& predict_models();
/// Whether the network takes digits of 28 x 28 x 1; the others take photographs.
bool is_digits_model(const std::string& model);

/// With as many classes, channels and blocks as the checkpoint's weights; the usual numbers where
/// it has none, so that loading says what is missing.
std::unique_ptr<distribute::nn::Module> make_predict_network(const std::string& model,
                                                             const std::string& checkpoint);

}  // namespace distribute_tools
