#include "outputs.hpp"

#include <distribute/base/error.hpp>

#include <charconv>
#include <filesystem>
#include <fstream>

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
  std::string rows, line;
  if (!std::filesystem::is_regular_file(path)) return rows;  // a pipe would wait for a writer
  std::ifstream file(path);
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
  auto file = dist::io::local_file_system().create(files_.loss_csv);
  if (!file.ok()) throw dist::PermissionDeniedError("cannot write --loss_csv=" + files_.loss_csv);
  loss_csv_ = *std::move(file);
  write_loss_csv(dist::str_cat(kColumns, '\n', kept));
}

void Outputs::loss(int64_t number, double loss, double grad_norm) {
  if (!loss_csv_) return;
  write_loss_csv(
      dist::str_cat(number - 1, ',', csv_number(loss), ',', csv_number(grad_norm), '\n'));
}

void Outputs::scalar(const std::string& name, double value, int64_t step) {
  if (!writer_) return;
  const auto scope = writer_->as_default();
  dist::summary::scalar(name, value, step);
}

/// The row of a step is with the system before a checkpoint has the step.
void Outputs::write_loss_csv(const std::string& text) {
  absl::Status status = loss_csv_->append(text);
  if (status.ok()) status = loss_csv_->flush();
  if (!status.ok())
    throw dist::ResourceExhaustedError(dist::str_cat("--loss_csv=", files_.loss_csv, ": ",
                                                     status.message(),
                                                     "; the file ends before the training"));
}

void Outputs::close() {
  if (writer_) writer_->close();
}

}  // namespace examples
