#pragma once
/// Datasets of picture files, from names and labels to what a network takes.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/pimpl.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/decode_image.hpp>
#include <distribute/data/files.hpp>
#include <distribute/data/image.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::data {

/// What training does to a picture.
enum class Augmentation {
  None,           // as in evaluation
  DistortedCrop,  // Inception's: a random window, resized; mirrored half of the time
  PadAndCrop,     // CIFAR's: resized, shifted by up to `border` pixels; mirrored half of the time
};

/// How one picture becomes float32 [image_size, image_size, 3].
struct PictureTransform {
  int64_t image_size = 224;
  Augmentation augmentation = Augmentation::DistortedCrop;
  image::DistortedBoxOptions crop = {};
  int64_t border = 4;
  image::ColorJitter jitter = {};
  image::Normalization normalization = {};
  /// Evaluation resizes the shorter side to this and takes the middle; 0: image_size * 8 / 7, the
  /// 256 of 224.
  int64_t shorter_side = 0;
  /// JPEG pictures twice (4, 8 times) as large as needed are decoded to 1/2 (1/4, 1/8): faster, and
  /// less aliasing, but not TensorFlow's pixels.
  bool scaled_decoding = true;
  JpegOptions jpeg = {};  // ratio is chosen here; max_pixels goes for PNG, too
};

/// Decodes and augments one picture for training. The same key gives the same numbers.
/// Throws  as decode_image.
/// Source  tensorflow/models, ResNet on ImageNet (preprocessing); He et al. 2015 (PadAndCrop)
Tensor training_picture(std::string_view encoded, const PictureTransform& transform, uint64_t key);

/// Decodes one picture for evaluation. Throws  as decode_image.
Tensor evaluation_picture(std::string_view encoded, const PictureTransform& transform);

/// The same for pictures that are decoded already, uint8 [height, width, 3].
Tensor training_picture(const Tensor& pixels, const PictureTransform& transform, uint64_t key);
Tensor evaluation_picture(const Tensor& pixels, const PictureTransform& transform);

/// Counts pictures that could not be decoded, and keeps the first reasons. Thread-safe.
class BadPictures {
 public:
  BadPictures();
  ~BadPictures();
  /// `reason` begins with the picture's name; the first ten are kept.
  void add(const std::string& reason);
  int64_t count() const;
  std::vector<std::string> first_reasons() const;
  /// "3 pictures could not be decoded and were left out: <reason>; ..."; "" when there are none.
  std::string summary() const;

 private:
  struct State;
  const Pimpl<State> state_;
};

/// Pictures in the order of their classes, then of their names.
struct ImageFolder {
  std::vector<std::string> class_names;  // sorted; the label is the place here
  std::vector<std::string> paths;
  std::vector<int64_t> labels;  // of `paths`
};

/// Whether a file of this name is taken for a picture: .jpg, .jpeg and .png, in small or capital
/// letters, but no hidden file.
bool is_picture_name(std::string name);

/// The pictures in `directory`/<class>/; files of other names are passed over, and so are files
/// beside the folders.
/// Throws  NotFoundError for no directory or no pictures; PermissionDeniedError; for a class
///         without pictures InvalidArgumentError that names it.
/// Source  tf.keras.utils.image_dataset_from_directory(labels="inferred")
ImageFolder list_image_folder(const std::string& directory);

/// What the datasets of this header have in common.
struct PictureOptions {
  bool training = false;  // shuffled and augmented anew in each pass; else in order, as they are
  PictureTransform transform = {};
  /// The seed of the order and the augmentation, which depend on seed, pass and picture alone, not
  /// on the number of threads or workers. Without a value the global seed counts.
  std::optional<uint64_t> seed = {};
  /// As MapOptions.num_parallel_calls; twice as many decoded pictures wait at most.
  int64_t num_threads = kAutotune;
  /// A picture that cannot be decoded is an error that names it; otherwise it is left out.
  bool strict = false;
  std::shared_ptr<BadPictures> bad_pictures = {};  // counts what is left out
  PipelineStatisticsPtr statistics = {};           // of the stages "read" and "decode"
  int64_t num_classes = 0;                         // labels must lie below it; 0: anything goes
};

/// Where pictures and labels are in the records.
struct PictureRecordOptions {
  PictureOptions pictures = {};
  /// In training, in a new order in each pass. Compressed or not: each file's first bytes tell.
  TFRecordOptions files = {.compression_type = io::Compression::Auto, .num_parallel_reads = 10};
  int64_t shuffle_buffer = 10'000;  // encoded pictures held back, in training
  std::string image_key = "image/encoded";
  std::string label_key = "image/class/label";
  int64_t label_offset = 0;  // is subtracted
};

/// (float32 [image_size, image_size, 3], int64 []) from tf.train.Example records. Workers share the
/// files by AutoShardPolicy::Auto and File. Restoring a position decodes nothing.
/// Throws  as tfrecord_dataset; while reading: InvalidArgumentError that names file and record for
///         a missing feature or a label outside of the range, or with `strict` a bad picture; at
///         the end of a pass of which all pictures had to be left out, with the first reasons.
Dataset picture_records(std::vector<std::string> paths, const PictureRecordOptions& options = {});

enum class PictureSplit { Train, Validation };  // the two parts of a data set

/// The files train-*-of-* or validation-*-of-* in `directory`, labels 1 to 1000 made 0 to 999.
/// Throws  NotFoundError without such files; as picture_records.
/// Source  tensorflow/models, ResNet on ImageNet (input pipeline)
Dataset load_imagenet(const std::string& directory, PictureSplit split,
                      PictureRecordOptions options = {});

/// What load_cifar10 makes of a transform.
PictureTransform cifar10_transform(PictureTransform transform = {});

/// 32 x 32 pixels from the set's own binary files, as find_cifar_files finds them, or else from the
/// TFRecords train-*-of-* or (Validation) test-*-of-* in `directory`.
/// In training the options' augmentation, unless it is None, becomes PadAndCrop; the normalization
/// is that of CIFAR-10; image_size is 32.
/// Throws  NotFoundError without such files; as read_cifar and picture_records.
Dataset load_cifar10(const std::string& directory, PictureSplit split,
                     PictureRecordOptions options = {});

/// The same for CIFAR-100 with its fine labels and its own normalization.
Dataset load_cifar100(const std::string& directory, PictureSplit split,
                      PictureRecordOptions options = {});

/// The pictures of a folder with one folder for each class, labels in the order of
/// list_image_folder(directory).class_names. Workers share the pictures by AutoShardPolicy::Auto
/// and File. With `strict` the cardinality is known.
/// Throws  as list_image_folder; while reading as picture_records, with the file's name.
/// Source  tf.keras.utils.image_dataset_from_directory
Dataset image_dataset_from_directory(const std::string& directory,
                                     const PictureOptions& options = {});

}  // namespace distribute::data
