#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/pictures.hpp>

#include <mutex>

namespace distribute::data {

struct BadPictures::State {
  std::mutex mutex;  // guards the rest
  int64_t count = 0;
  std::vector<std::string> reasons;
};

DISTRIBUTE_INLINE BadPictures::BadPictures() : state_(new State()) {}
DISTRIBUTE_INLINE BadPictures::~BadPictures() = default;

DISTRIBUTE_INLINE void BadPictures::add(const std::string& reason) {
  constexpr size_t kMostReasons = 10;
  std::lock_guard lock(state_->mutex);
  ++state_->count;
  if (state_->reasons.size() < kMostReasons) state_->reasons.push_back(reason);
}

DISTRIBUTE_INLINE int64_t BadPictures::count() const {
  std::lock_guard lock(state_->mutex);
  return state_->count;
}

DISTRIBUTE_INLINE std::vector<std::string> BadPictures::first_reasons() const {
  std::lock_guard lock(state_->mutex);
  return state_->reasons;
}

DISTRIBUTE_INLINE std::string BadPictures::summary() const {
  std::lock_guard lock(state_->mutex);
  if (state_->count == 0) return "";
  std::string text =
      str_cat(state_->count, state_->count == 1 ? " picture" : " pictures",
              " could not be decoded and ", state_->count == 1 ? "was" : "were", " left out: ");
  for (size_t i = 0; i < state_->reasons.size(); ++i) text += (i ? "; " : "") + state_->reasons[i];
  return text + (state_->count > int64_t(state_->reasons.size()) ? "; ..." : "");
}

}  // namespace distribute::data
