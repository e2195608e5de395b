#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/data/example.hpp>
#include <distribute/data/pictures.hpp>
#include <distribute/io/tfrecord.hpp>

#include <tests/data/picture_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;

namespace {

/// 24 pictures of their own in two files.
std::vector<std::string> make_shards(const TemporaryDirectory& root) {
  std::vector<std::string> paths = {root / "train-0-of-2", root / "train-1-of-2"};
  for (int file = 0; file < 2; ++file) {
    std::string records;
    for (int64_t i = 0; i < 12; ++i) {
      const int64_t label = 12 * file + i;
      const std::string jpeg = data::encode_jpeg(data::gradient_image(18, 24, 3, double(label)));
      records +=
          io::frame_record(data::encode_example({{"image/encoded", data::BytesList{jpeg}},
                                                 {"image/class/label", data::Int64List{label}}}));
    }
    data::write_bytes(paths[size_t(file)], records);
  }
  return paths;
}

data::Dataset batches(const std::vector<std::string>& paths) {
  data::PictureRecordOptions options{.shuffle_buffer = 7};
  options.pictures = {.training = true, .seed = 9, .num_threads = 2, .strict = true};
  options.pictures.transform.image_size = 12;
  return data::picture_records(paths, options).repeat().batch(5).prefetch(2);
}

}  // namespace

TEST_CASE("a checkpoint in mid-epoch resumes with the next picture, bit by bit",
          "[checkpoint][pictures]") {
  if (!data::has_jpeg()) SKIP("no libjpeg");
  const TemporaryDirectory root;
  const auto paths = make_shards(root);
  data::Iterator first = batches(paths).iterator();
  for (int step = 0; step < 7; ++step) first.next();  // in the second epoch
  const std::string saved =
      train::Checkpoint({{"iterator", train::state_of(first)}}).write(root / "ckpt");
  data::Iterator second = batches(paths).iterator();
  train::Checkpoint({{"iterator", train::state_of(second)}}).restore(saved).assert_consumed();
  for (int step = 0; step < 8; ++step) {
    const data::Batch wanted = first.next(), got = second.next();
    CHECK(got.x.to_vector() == wanted.x.to_vector());
    CHECK(got.y.to_vector() == wanted.y.to_vector());
  }
}
