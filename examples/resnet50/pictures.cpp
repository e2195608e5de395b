#include "pictures.hpp"

namespace dist = distribute;
namespace data = distribute::data;

namespace resnet50 {

namespace {

/// One batch of noise, again and again: what training costs without reading anything.
Pictures synthetic(const Options& o) {
  const int64_t count = o.common.batch_size, size = o.image_size;
  std::vector<int64_t> labels(static_cast<size_t>(count));
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = int64_t(i * 7919) % o.classes;
  const auto images =
      data::Dataset::from_tensor_slices(dist::random::normal({count, size, size, 3}, o.common.seed),
                                        dist::Tensor(dist::Shape{count}, labels));
  return {images.repeat().batch(count), images.batch(count), count};
}

}  // namespace

Pictures load_pictures(const Options& o) {
  if (o.dataset == "synthetic") return synthetic(o);
  throw dist::UnimplementedError("--dataset=" + o.dataset + " is not available in this version");
}

}  // namespace resnet50
