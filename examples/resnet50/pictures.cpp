#include "pictures.hpp"

#include <distribute/data_service.hpp>
#include <distribute/horovod.hpp>

#include <cstdio>
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

/// --data_dir/train and /val, or the folder itself for both.
std::string folder_of(const Options& o, bool training) {
  const std::string& root = o.common.data_dir;
  if (!std::filesystem::is_directory(root + "/train")) return root;
  return root + (training ? "/train" : "/val");
}

/// Every picture once.
data::Dataset one_pass(const Options& o, bool training, const Counters& counters) {
  const data::PictureOptions options = picture_options(o, training, counters);
  if (o.dataset == "folder") return data::picture_folder(folder_of(o, training), options);
  const auto split = training ? data::PictureSplit::Train : data::PictureSplit::Validation;
  if (o.dataset == "cifar100")
    return data::load_cifar100(o.common.data_dir, split, {.pictures = options});
  if (o.dataset == "cifar10")
    return data::load_cifar10(o.common.data_dir, split, {.pictures = options});
  return load_records(o, split, {.pictures = options});
}

/// Throws  dist::Error for folders with more classes than the network has.
int64_t count_training_images(const Options& o) {
  if (o.dataset != "folder") return o.train_images;
  const std::string folder = folder_of(o, true);
  const auto images = data::list_image_folder(folder);
  if (int64_t(images.class_names.size()) > o.num_classes)
    throw dist::UsageError(dist::str_cat("--num_classes=", o.num_classes, ": ", folder, " has ",
                                         images.class_names.size(), " classes"));
  return int64_t(images.paths.size());
}

const char* const kServedPictures = "pictures of the training";

/// The same pictures, made by the workers of --data_service. Where this is the only reader and
/// none may be left out (--strict), another number of pictures in a pass is an error.
/// Throws  dist::InvalidArgumentError for several workers without --data_job.
data::Dataset served(const data::Dataset& pictures, int64_t count, const Options& o) {
  if (o.data_job.empty() && num_workers(o) > 1)
    throw dist::UsageError(
        "--data_service with several workers needs --data_job, a name that they share and that "
        "other starts do not have");
  const data::Dataset all = pictures.apply(
      data::service::distribute({.processing_mode = data::service::ShardingPolicy::Dynamic,
                                 .service = o.data_service,
                                 .dataset_id = kServedPictures,
                                 .job_name = o.data_job}));
  return o.strict && o.data_job.empty() ? all.assert_cardinality(count) : all;
}

/// Round and round; what a step needs next is made while it runs.
data::Dataset batches(const data::Dataset& pictures, const Options& o) {
  const data::Dataset all = pictures.repeat().batch(o.common.batch_size).prefetch(2);
  return o.data_service.empty() ? shared(all, o) : all;
}

}  // namespace

Pictures load_pictures(const Options& o) {
  if (o.dataset == "synthetic") return synthetic(o);
  const Counters counters;
  const int64_t count = count_training_images(o);
  const data::Dataset training = o.data_service.empty()
                                     ? one_pass(o, true, counters)
                                     : served(one_pass(o, true, Counters()), count, o);
  return {batches(training, o), shared(one_pass(o, false, counters).batch(100), o), count,
          counters.left_out, counters.statistics};
}

int serve_pictures(const Options& o) {
  count_training_images(o);
  data::service::register_dataset(kServedPictures, [o] { return one_pass(o, true, Counters()); });
  data::service::WorkerServer worker({.dispatcher_address = o.data_service, .host = o.data_worker});
  std::printf("data worker at %s\n", worker.address().c_str());
  std::fflush(stdout);
  worker.join();
  return 0;
}

}  // namespace resnet50
