#pragma once
/// The step of the trainer, in a file of its own: touching main.cpp does not compile it again.

#include <distribute/data/batch.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/optim/sgd.hpp>

/// One step of one replica; gives its share of the average loss over `global_batch` examples.
distribute::Tensor train_step(distribute::nn::Sequential& model, distribute::optim::SGD& optimizer,
                              const distribute::data::Batch& batch, int64_t global_batch);
