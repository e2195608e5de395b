#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/bad_pictures.hpp>

namespace distribute::data {

DISTRIBUTE_INLINE void BadPictures::add(const std::string& reason) {
  constexpr size_t kMostReasons = 10;
  std::lock_guard lock(mutex_);
  ++count_;
  if (reasons_.size() < kMostReasons) reasons_.push_back(reason);
}

DISTRIBUTE_INLINE int64_t BadPictures::count() const {
  std::lock_guard lock(mutex_);
  return count_;
}

DISTRIBUTE_INLINE std::vector<std::string> BadPictures::first_reasons() const {
  std::lock_guard lock(mutex_);
  return reasons_;
}

DISTRIBUTE_INLINE std::string BadPictures::summary() const {
  std::lock_guard lock(mutex_);
  if (count_ == 0) return "";
  std::string text =
      str_cat(count_, count_ == 1 ? " picture" : " pictures", " could not be decoded and ",
              count_ == 1 ? "was" : "were", " left out: ");
  for (size_t i = 0; i < reasons_.size(); ++i) text += (i ? "; " : "") + reasons_[i];
  return text + (count_ > int64_t(reasons_.size()) ? "; ..." : "");
}

}  // namespace distribute::data
