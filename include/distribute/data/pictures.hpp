#pragma once
/// Datasets of picture files, from names and labels to tensors for a network.

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

/// The random changes of a picture in training.
enum class Augmentation {
  None,           // no change, as in evaluation
  DistortedCrop,  // Inception's: a random window, resized; mirrored half of the time
  PadAndCrop,     // CIFAR's: resized, shifted by up to `border` pixels; mirrored half of the time
};

/// Describes how one picture becomes float32 [image_size, image_size, 3].
struct PictureTransform {
  int64_t image_size = 224;
  Augmentation augmentation = Augmentation::DistortedCrop;
  image::DistortedBoxOptions crop = {};
  int64_t border = 4;
  image::ColorJitter jitter = {};
  image::Normalization normalization = {};
  /// In evaluation the shorter side is resized to this, and the middle is taken. 0 means image_size
  /// * 8 / 7, which gives 256 for 224.
  int64_t shorter_side = 0;
  /// Decodes JPEG pictures that are 2, 4 or 8 times as large as needed to 1/2, 1/4 or 1/8 of their
  /// size. This is faster and reduces aliasing, but gives other pixels than TensorFlow.
  bool scaled_decoding = true;
  JpegOptions jpeg = {};  // ratio is set by scaled_decoding; max_pixels limits PNG, too
};

/// Decodes and augments one picture for training. Equal keys give equal random numbers.
/// Throws  what decode_image() throws.
/// Source  tensorflow/models, ResNet on ImageNet (preprocessing); He et al. 2015 (PadAndCrop)
Tensor training_picture(std::string_view encoded, const PictureTransform& transform, uint64_t key);

/// Decodes one picture for evaluation. Throws  what decode_image() throws.
Tensor evaluation_picture(std::string_view encoded, const PictureTransform& transform);

/// These take pictures that are already decoded, uint8 [height, width, 3].
Tensor training_picture(const Tensor& pixels, const PictureTransform& transform, uint64_t key);
Tensor evaluation_picture(const Tensor& pixels, const PictureTransform& transform);

/// Counts pictures that could not be decoded, and keeps the first reasons. Thread-safe.
class BadPictures {
 public:
  BadPictures();
  ~BadPictures();
  /// `reason` begins with the picture's name. The first ten reasons are kept.
  void add(const std::string& reason);
  int64_t count() const;
  std::vector<std::string> first_reasons() const;
  /// Says "3 pictures could not be decoded and were left out: <reason>; ..."; "" when there are
  /// none.
  std::string summary() const;

 private:
  struct State;
  const Pimpl<State> state_;
};

/// Pictures in the order of their classes, then of their names.
struct ImageFolder {
  std::vector<std::string> class_names;  // sorted; a label is an index into it
  std::vector<std::string> paths;
  std::vector<int64_t> labels;  // label of each of `paths`
};

/// Returns whether a file of this name counts as a picture: .jpg, .jpeg and .png in small or
/// capital letters, but no hidden file.
bool is_picture_name(std::string name);

/// Lists the pictures in `directory`/<class>/. Other files in these folders and beside them are
/// ignored.
/// Throws  NotFoundError for no directory or no pictures; PermissionDeniedError;
///         InvalidArgumentError that names a class without pictures.
/// Source  tf.keras.utils.image_dataset_from_directory(labels="inferred")
ImageFolder list_image_folder(const std::string& directory);

/// Holds options that all datasets of this header have.
struct PictureOptions {
  bool training = false;  // true: shuffles and augments anew in each pass
  PictureTransform transform = {};
  /// The seed of order and augmentation. These depend on seed, pass and picture alone, not on the
  /// number of threads or workers. Unset: the global seed.
  std::optional<uint64_t> seed = {};
  /// Used as MapOptions.num_parallel_calls. At most twice this number of decoded pictures wait.
  int64_t num_threads = kAutotune;
  /// True: a picture that cannot be decoded is an error that names it; false: it is left out.
  bool strict = false;
  std::shared_ptr<BadPictures> bad_pictures = {};  // counts pictures that are left out
  PipelineStatisticsPtr statistics = {};           // measures the stages "read" and "decode"
  int64_t num_classes = 0;                         // labels must lie below it; 0: no check
};

/// Says where pictures and labels are in the records.
struct PictureRecordOptions {
  PictureOptions pictures = {};
  /// The files' options. In training files are read in a new order in each pass. The first bytes of
  /// each file tell whether it is compressed.
  TFRecordOptions files = {.compression_type = io::Compression::Auto, .num_parallel_reads = 10};
  int64_t shuffle_buffer = 10'000;  // number of encoded pictures held back in training
  std::string image_key = "image/encoded";
  std::string label_key = "image/class/label";
  int64_t label_offset = 0;  // subtracted from each label
};

/// Gives (float32 [image_size, image_size, 3], int64 []) from tf.train.Example records. Workers
/// share the files by AutoShardPolicy::Auto and File. Restoring a position decodes nothing.
/// Throws  what tfrecord_dataset() throws. While reading: InvalidArgumentError that names file and
///         record for a missing feature, a label outside of the range or, with `strict`, a bad
///         picture; also at the end of a pass in which every picture was left out, with the first
///         reasons.
Dataset picture_records(std::vector<std::string> paths, const PictureRecordOptions& options = {});

enum class PictureSplit { Train, Validation };  // the two parts of a data set

/// Reads the files train-*-of-* or validation-*-of-* in `directory`; labels 1 to 1000 become 0 to
/// 999.
/// Throws  NotFoundError without such files; what picture_records() throws.
/// Source  tensorflow/models, ResNet on ImageNet (input pipeline)
Dataset load_imagenet(const std::string& directory, PictureSplit split,
                      PictureRecordOptions options = {});

/// The transform that load_cifar10() uses for the given one.
PictureTransform cifar10_transform(PictureTransform transform = {});

/// Gives pictures of 32 x 32 pixels from the set's own binary files if find_cifar_files() finds
/// them, or else from the TFRecords train-*-of-* or (Validation) test-*-of-* in `directory`. In
/// training the augmentation, unless it is None, becomes PadAndCrop; the normalization is
/// CIFAR-10's; image_size is 32.
/// Throws  NotFoundError without such files; what read_cifar() and picture_records() throw.
Dataset load_cifar10(const std::string& directory, PictureSplit split,
                     PictureRecordOptions options = {});

/// Loads CIFAR-100 with its fine labels and with the mean and deviation of its own pictures.
Dataset load_cifar100(const std::string& directory, PictureSplit split,
                      PictureRecordOptions options = {});

/// Gives the pictures of a folder that has one folder for each class; labels index
/// list_image_folder(directory).class_names. Workers share the pictures by AutoShardPolicy::Auto
/// and File. With `strict` the cardinality is known.
/// Throws  what list_image_folder() throws; while reading, what picture_records() throws, with the
///         file's name.
Dataset picture_folder(const std::string& directory, const PictureOptions& options = {});

}  // namespace distribute::data
