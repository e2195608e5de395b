#pragma once
#include <distribute/base/status.hpp>
#include <distribute/data/detail/pass_number.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/data/example.hpp>
#include <distribute/data/files.hpp>
#include <distribute/data/mnist_and_cifar.hpp>
#include <distribute/data/pictures.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/ops/detail/global_seed.hpp>

namespace distribute::data {

namespace data_internal {

/// One encoded picture, and the data that its random numbers depend on.
struct EncodedPicture {
  std::string_view encoded;
  int64_t label;
  std::string name;  // for messages
  uint64_t file, record, pass;
};

DISTRIBUTE_INLINE uint64_t picture_key(const PictureOptions& options,
                                       const EncodedPicture& picture) {
  const uint64_t seed = options.seed ? *options.seed : ops_internal::global_seed().load();
  const uint64_t parts[] = {seed, picture.pass, picture.file, picture.record};
  return random_key(parts);
}

/// Throws at the end of a pass without pictures, and says which were left out and why.
class SomePicturesStream final : public BatchStream {
 public:
  SomePicturesStream(std::unique_ptr<BatchStream> input,
                     const std::shared_ptr<BadPictures>& bad_pictures)
      : input_(std::move(input)), bad_pictures_(bad_pictures), before_(bad_pictures_->count()) {}
  bool next(Batch& out) override { return input_->next(out) ? (gave_ = true) : ends(); }
  int64_t skip(int64_t count) override {
    const int64_t done = input_->skip(count);
    gave_ = gave_ || done > 0;
    if (done < count) ends();
    return done;
  }
  void save(StateWriter& state) const override { input_->save(state); }
  void restore(StateReader& state) override {
    input_->restore(state);
    gave_ = true;  // an earlier part may have given some
  }

 private:
  bool ends() const {
    if (!gave_ && bad_pictures_->count() > before_)
      throw InvalidArgumentError("the dataset has no picture that can be decoded: " +
                                 bad_pictures_->summary());
    return false;
  }

  std::unique_ptr<BatchStream> input_;
  std::shared_ptr<BadPictures> bad_pictures_;
  int64_t before_;
  bool gave_ = false;
};

class SomePicturesNode final : public CopiedNode<SomePicturesNode> {
 public:
  SomePicturesNode(NodePtr input, std::shared_ptr<BadPictures> bad_pictures)
      : CopiedNode(std::move(input)), bad_pictures_(std::move(bad_pictures)) {}
  const char* kind() const override { return "SomePictures"; }
  int64_t cardinality() const override { return kUnknownCardinality; }
  bool is_in_positions() const override { return false; }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<SomePicturesStream>(input().elements(pass), bad_pictures_);
  }

 private:
  std::shared_ptr<BadPictures> bad_pictures_;
};

/// Gives (picture, label), or (zeros, -1) for a bad picture that is left out.
DISTRIBUTE_INLINE Batch labelled_picture(const EncodedPicture& picture,
                                         const PictureOptions& options) {
  if (picture.label < 0 || (options.num_classes > 0 && picture.label >= options.num_classes))
    throw InvalidArgumentError(
        str_cat(picture.name, ": the label is ", picture.label, ", expected 0 to ",
                options.num_classes > 0 ? str_cat(options.num_classes - 1) : "any number above"));
  const PictureTransform& transform = options.transform;
  try {
    return {options.training
                ? training_picture(picture.encoded, transform, picture_key(options, picture))
                : evaluation_picture(picture.encoded, transform),
            picture.label};
  } catch (const InvalidArgumentError& error) {
    const std::string reason = str_cat(picture.name, ": ", error.what());
    if (options.strict) throw InvalidArgumentError(reason);
    options.bad_pictures->add(reason);
    return {Tensor(0.0f), int64_t{-1}};
  }
}

DISTRIBUTE_INLINE PictureOptions counting(PictureOptions options) {
  if (!options.bad_pictures) options.bad_pictures = std::make_shared<BadPictures>();
  return options;
}

/// Decodes with `load` on threads and leaves out pictures that cannot be decoded.
DISTRIBUTE_INLINE Dataset decoded(NodePtr encoded, MapFunction load,
                                  const PictureOptions& options) {
  const int64_t side = options.transform.image_size;
  if (side < 1) throw InvalidArgumentError(str_cat("pictures: the image size is ", side));
  const ElementSpec spec = {{{side, side, 3}, DType::Float32}, {{}, DType::Int64}};
  Dataset pictures =
      Dataset(pass_number_node(std::move(encoded)))
          .measure(options.statistics, "read")
          .map(std::move(load), {.num_parallel_calls = options.num_threads, .output_spec = spec});
  if (!options.strict) {  // the number is then unknown
    pictures = pictures.filter([](const Batch& picture) { return picture.y.item<int64_t>() >= 0; });
    pictures = Dataset(std::make_shared<SomePicturesNode>(pictures.node(), options.bad_pictures));
  }
  return pictures.measure(options.statistics, "decode");
}

DISTRIBUTE_INLINE EncodedPicture parse_record(const Batch& element, const std::string& path,
                                              const PictureRecordOptions& options,
                                              const FeatureSpecs& specs) {
  const auto origin = element.y.data<int64_t>();
  EncodedPicture picture{{},
                         0,
                         str_cat(path, ", record ", origin[1]),
                         uint64_t(origin[0]),
                         uint64_t(origin[1]),
                         uint64_t(element.more[0].item<int64_t>())};
  const ParsedExample parsed = parse_single_example(bytes_of(element.x), specs, picture.name);
  picture.encoded = parsed.at(options.image_key).bytes[0];
  picture.label = parsed.at(options.label_key).values.item<int64_t>() - options.label_offset;
  return picture;
}

DISTRIBUTE_INLINE Dataset load_split(const std::string& directory, const std::string& name,
                                     const PictureRecordOptions& options) {
  return picture_records(match_files(io::join_path(directory, name + "-*-of-*")), options);
}

/// Gives (picture, label) of decoded pictures in memory.
DISTRIBUTE_INLINE Dataset pictures_in_memory(const CifarImages& set,
                                             const PictureOptions& options) {
  const int64_t count = set.labels.shape()[0];
  Dataset numbers = Dataset::range(count);
  if (options.training) numbers = numbers.shuffle(count, {.seed = options.seed});
  const auto load = [set, options](const Batch& element) -> Batch {
    const int64_t number = element.x.item<int64_t>(), pass = element.y.item<int64_t>();
    const Tensor pixels = tensor_internal::viewed(
        tensor_internal::rows_of(set.images, number, number + 1), {32, 32, 3});
    const PictureTransform& transform = options.transform;
    const uint64_t key = picture_key(options, {{}, 0, {}, 0, uint64_t(number), uint64_t(pass)});
    return {options.training ? training_picture(pixels, transform, key)
                             : evaluation_picture(pixels, transform),
            int64_t{set.labels.data<uint8_t>()[size_t(number)]}};
  };
  PictureOptions all_are_good = options;
  all_are_good.strict = true;
  return decoded(numbers.node(), load, all_are_good);
}

DISTRIBUTE_INLINE Dataset load_cifar(const std::string& directory, PictureSplit split,
                                     const PictureRecordOptions& options, CifarLabels labels) {
  const bool training = split == PictureSplit::Train;
  const auto files = find_cifar_files(directory, labels, training);
  if (!files.empty()) return pictures_in_memory(read_cifar(files, labels), options.pictures);
  const std::string name = training ? "train" : "test";
  try {
    return load_split(directory, name, options);
  } catch (const NotFoundError& error) {
    throw NotFoundError(str_cat(directory, ": the binary version of CIFAR has ",
                                cifar_files_text(labels, training), "; there is no such file, and ",
                                "no records ", name, "-*-of-* are there (", error.what(), ")"));
  }
}

}  // namespace data_internal

DISTRIBUTE_INLINE Dataset picture_records(std::vector<std::string> paths,
                                          const PictureRecordOptions& given) {
  PictureRecordOptions options = given;
  options.pictures = data_internal::counting(given.pictures);
  TFRecordOptions files = options.files;
  if (files.with_origin || (files.shuffle_files && !options.pictures.training))
    throw InvalidArgumentError(
        "picture_records: leave out files.with_origin, as elements are pictures and labels, and "
        "files.shuffle_files, which pictures.training sets");
  files.with_origin = true;
  files.shuffle_files = options.pictures.training;
  if (!files.seed) files.seed = options.pictures.seed;
  Dataset records = tfrecord_dataset(paths, files);
  if (options.pictures.training)
    records = records.shuffle(options.shuffle_buffer, {.seed = options.pictures.seed});
  const FeatureSpecs specs = {{options.image_key, fixed_len_feature(FeatureKind::Bytes)},
                              {options.label_key, fixed_len_feature(FeatureKind::Int64)}};
  const auto load = [paths = std::move(paths), options, specs](const Batch& element) {
    const std::string& path = paths[size_t(element.y.data<int64_t>()[0])];
    return data_internal::labelled_picture(
        data_internal::parse_record(element, path, options, specs), options.pictures);
  };
  return data_internal::decoded(records.node(), load, options.pictures);
}

DISTRIBUTE_INLINE Dataset load_imagenet(const std::string& directory, PictureSplit split,
                                        PictureRecordOptions options) {
  options.label_offset = 1;
  options.pictures.num_classes = 1000;
  return data_internal::load_split(directory, split == PictureSplit::Train ? "train" : "validation",
                                   options);
}

DISTRIBUTE_INLINE PictureTransform cifar10_transform(PictureTransform transform) {
  transform.image_size = transform.shorter_side = 32;
  transform.normalization = {{125.3f, 123.0f, 113.9f}, {63.0f, 62.1f, 66.7f}};
  if (transform.augmentation == Augmentation::DistortedCrop)
    transform.augmentation = Augmentation::PadAndCrop;
  return transform;
}

DISTRIBUTE_INLINE Dataset load_cifar10(const std::string& directory, PictureSplit split,
                                       PictureRecordOptions options) {
  options.pictures.transform = cifar10_transform(options.pictures.transform);
  options.pictures.num_classes = 10;
  return data_internal::load_cifar(directory, split, options, CifarLabels::Cifar10);
}

DISTRIBUTE_INLINE Dataset load_cifar100(const std::string& directory, PictureSplit split,
                                        PictureRecordOptions options) {
  options.pictures.transform = cifar10_transform(options.pictures.transform);
  options.pictures.transform.normalization = {{129.3f, 124.1f, 112.4f}, {68.2f, 65.4f, 70.4f}};
  options.pictures.num_classes = 100;
  return data_internal::load_cifar(directory, split, options, CifarLabels::Cifar100Fine);
}

DISTRIBUTE_INLINE Dataset picture_folder(const std::string& directory,
                                         const PictureOptions& given) {
  const PictureOptions options = data_internal::counting(given);
  const auto folder = std::make_shared<const ImageFolder>(list_image_folder(directory));
  Dataset numbers(file_list_source(folder->paths));
  if (options.training)
    numbers = numbers.shuffle(int64_t(folder->paths.size()), {.seed = options.seed});
  const auto load = [folder, options](const Batch& element) {
    const size_t number = size_t(element.x.item<int64_t>());
    const std::string& path = folder->paths[number];
    const std::string bytes = value_or_throw(io::read_file(path));
    return data_internal::labelled_picture(
        {bytes, folder->labels[number], path, number, 0, uint64_t(element.y.item<int64_t>())},
        options);
  };
  return data_internal::decoded(numbers.node(), load, options);
}

}  // namespace distribute::data
