#pragma once
/// Where --dataset finds its pictures.

#include "flags.hpp"

#include <distribute/distribute.hpp>

#include <memory>

namespace resnet50 {

/// Pictures [image_size, image_size, 3] with labels.
struct Pictures {
  distribute::data::Dataset training;  // batches of the global size, round and round
  distribute::data::Dataset test;      // batches, every picture once
  int64_t training_images = 0;
  std::shared_ptr<distribute::data::BadPictures> left_out = {};
  distribute::data::PipelineStatisticsPtr statistics = {};  // of `training`
};

/// Throws  distribute::Error for folders and files that cannot be used.
Pictures load_pictures(const Options& options);

/// Makes the pictures of the training for --data_service, until a signal ends the process.
/// Throws  distribute::Error as load_pictures(), and when the dispatcher is not there.
int serve_pictures(const Options& options);

}  // namespace resnet50
