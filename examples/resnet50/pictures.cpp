#include "pictures.hpp"

#include <distribute/horovod.hpp>

#include <filesystem>
#include <map>

namespace dist = distribute;
namespace data = distribute::data;

namespace resnet50 {

namespace {

/// One batch of noise, again and again: what training costs without reading anything.
Pictures synthetic(const Options& o) {
  const int64_t count = o.common.batch_size, size = o.image_size;
  std::vector<int64_t> labels(static_cast<size_t>(count));
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = int64_t(i * 7919) % o.num_classes;
  const auto images =
      data::Dataset::from_tensor_slices(dist::random::normal({count, size, size, 3}, o.common.seed),
                                        dist::Tensor(dist::Shape{count}, labels));
  return {images.repeat().batch(count), images.batch(count), count};
}

/// What is told about the pictures of a run.
struct Counters {
  std::shared_ptr<data::BadPictures> left_out = std::make_shared<data::BadPictures>();
  data::PipelineStatisticsPtr statistics = std::make_shared<data::PipelineStatistics>();
};

data::PictureOptions picture_options(const Options& o, bool training, const Counters& counters) {
  data::PictureOptions pictures{.training = training && o.common.shuffle, .seed = o.common.seed};
  pictures.bad_pictures = counters.left_out;
  if (training) pictures.statistics = counters.statistics;
  pictures.transform.image_size = o.image_size;
  pictures.strict = o.strict;
  pictures.num_classes = o.num_classes;
  return pictures;
}

int64_t num_workers(const Options& o) {
  return o.common.api == "horovod"
             ? dist::hvd::size()
             : dist::get_strategy().extended().input_context().num_input_pipelines();
}

/// Workers share it by --auto_shard_policy. A set of fewer files than workers, as of validation
/// often, is shared by its elements.
/// Throws  dist::Error, before the first step, for what cannot be shared so.
data::Dataset shared(const data::Dataset& pictures, const Options& o) {
  using Policy = data::AutoShardPolicy;
  const std::map<std::string, Policy> policies = {
      {"auto", Policy::Auto}, {"file", Policy::File}, {"data", Policy::Data}, {"off", Policy::Off}};
  Policy policy = policies.at(o.auto_shard_policy);
  const int64_t workers = num_workers(o);
  try {
    data::auto_shard(pictures.node(), workers, 0, policy);
  } catch (const dist::InvalidArgumentError&) {
    if (policy != Policy::Auto) throw;
    policy = Policy::Data;
  }
  if (policy == Policy::Auto) return pictures;
  return pictures.with_options({.experimental_distribute = {.auto_shard_policy = policy}});
}

/// Round and round; what a step needs next is made while it runs.
data::Dataset batches(const data::Dataset& pictures, const Options& o) {
  return shared(pictures.repeat().batch(o.common.batch_size).prefetch(2), o);
}

/// --data_dir/train and /val, or the folder itself for both.
Pictures from_folder(const Options& o) {
  const std::string& root = o.common.data_dir;
  const Counters counters;
  const bool split = std::filesystem::is_directory(root + "/train");
  const auto load = [&](const char* part, bool training) {
    return data::image_dataset_from_directory(split ? root + part : root,
                                              picture_options(o, training, counters));
  };
  const auto images = data::list_image_folder(split ? root + "/train" : root);
  if (int64_t(images.class_names.size()) > o.num_classes)
    throw dist::InvalidArgumentError(dist::str_cat("--num_classes=", o.num_classes, ": ", root,
                                                   " has ", images.class_names.size(), " classes"));
  return {batches(load("/train", true), o), shared(load("/val", false).batch(100), o),
          int64_t(images.paths.size()), counters.left_out, counters.statistics};
}

template <typename Load>
Pictures from_records(const Options& o, const Load& load) {
  const Counters counters;
  const auto split = [&](data::PictureSplit which, bool training) {
    return load(o.common.data_dir, which,
                data::PictureRecordOptions{.pictures = picture_options(o, training, counters)});
  };
  return {batches(split(data::PictureSplit::Train, true), o),
          shared(split(data::PictureSplit::Validation, false).batch(100), o), o.train_images,
          counters.left_out, counters.statistics};
}

/// Records in the form of ImageNet's, TensorFlow Datasets' or others, as the flags say.
data::Dataset load_records(const Options& o, data::PictureSplit split,
                           data::PictureRecordOptions options) {
  options.image_key = o.image_key;
  options.label_key = o.label_key;
  options.label_offset = o.label_offset;
  const bool training = split == data::PictureSplit::Train;
  const std::string& pattern = training ? o.train_files : o.validation_files;
  return data::picture_records(data::match_files(dist::io::join_path(o.common.data_dir, pattern)),
                               options);
}

}  // namespace

Pictures load_pictures(const Options& o) {
  if (o.dataset == "synthetic") return synthetic(o);
  if (o.dataset == "folder") return from_folder(o);
  if (o.dataset == "cifar100") return from_records(o, data::load_cifar100);
  if (o.dataset == "cifar10") return from_records(o, data::load_cifar10);
  return from_records(o, [&](const std::string&, data::PictureSplit split,
                             const data::PictureRecordOptions& options) {
    return load_records(o, split, options);
  });
}

}  // namespace resnet50
