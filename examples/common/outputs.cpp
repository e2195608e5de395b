#include "outputs.hpp"

#include <distribute/base/error.hpp>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <system_error>

namespace dist = distribute;

namespace examples {

namespace {

/// As "%.9g" of a program that sets no locale: with a decimal point.
std::string csv_number(double value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, 9).ptr};
}

constexpr const char* kColumns = "step,loss,grad_norm";

/// The rows of steps before this one; of another file none. The last row may be cut off.
std::string rows_before(const std::string& path, int64_t first_step) {
  std::ifstream file(path);
  std::string rows, line;
  if (!std::getline(file, line) || line != kColumns) return rows;
  while (std::getline(file, line) && !file.eof()) {
    int64_t step = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), step);
    if (error == std::errc() && *end == ',' && step < first_step) rows += line + "\n";
  }
  return rows;
}

}  // namespace

void Outputs::open(int64_t first_step) {
  if (!files_.logdir.empty() && !writer_)
    writer_ = dist::summary::create_file_writer(files_.logdir);
  if (files_.loss_csv.empty() || loss_csv_) return;
  const std::string kept = first_step > 0 ? rows_before(files_.loss_csv, first_step) : "";
  loss_csv_.reset(std::fopen(files_.loss_csv.c_str(), "w"));
  if (!loss_csv_) throw dist::PermissionDeniedError("cannot write --loss_csv=" + files_.loss_csv);
  // The row of a step is on the disk before a checkpoint has the step.
  std::setvbuf(loss_csv_.get(), nullptr, _IOLBF, BUFSIZ);
  std::fprintf(loss_csv_.get(), "%s\n%s", kColumns, kept.c_str());
  check_loss_csv();
}

void Outputs::loss(int64_t number, double loss, double grad_norm) {
  if (!loss_csv_) return;
  std::fprintf(loss_csv_.get(), "%lld,%s,%s\n", (long long)(number - 1), csv_number(loss).c_str(),
               csv_number(grad_norm).c_str());
  check_loss_csv();
}

void Outputs::scalar(const std::string& name, double value, int64_t step) {
  if (!writer_) return;
  const auto scope = writer_->as_default();
  dist::summary::scalar(name, value, step);
}

/// A full disk shows when the buffer is written.
void Outputs::check_loss_csv() const {
  if (!loss_csv_ || !std::ferror(loss_csv_.get())) return;
  throw dist::ResourceExhaustedError(dist::str_cat(
      "cannot write --loss_csv=", files_.loss_csv, ": ", std::generic_category().message(errno),
      "; the file ends before the training; is the disk full?"));
}

void Outputs::close() {
  if (loss_csv_) std::fflush(loss_csv_.get());
  check_loss_csv();
  if (writer_) writer_->close();
}

}  // namespace examples
