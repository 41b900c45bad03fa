// Figures for print, drawn by gnuplot. The caller writes the plot commands; terminal, size, fonts, grid and
// colours are defined here, so that all figures of the program look alike. The file extension (.pdf, .svg or
// .png) chooses the format. gnuplot is run confined: it can start no program and write no file.
//
//   Figure figure;
//   figure.block("u", "0 0.046\n99 0.0005\n");
//   figure.script("plot $u with lines title " + quote::gnuplot(strategy));
//   figure.write("weights.pdf");
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

namespace longtail::base {

// Okabe and Ito's colours, distinguishable with any kind of colour vision: black, orange, sky blue, bluish
// green, yellow, blue, vermilion, reddish purple.
inline constexpr std::array<std::string_view, 8> kOkabeIto = {"#000000", "#E69F00", "#56B4E9", "#009E73",
                                                              "#F0E442", "#0072B2", "#D55E00", "#CC79A7"};

// True if gnuplot can be started, and confined (confine.h).
bool has_gnuplot();

class Figure {
 public:
  explicit Figure(double width_cm = 12, double height_cm = 8);

  // Adds a data block, `$name` in the script: lines of numbers separated by spaces.
  void block(std::string_view name, std::string_view rows);
  // Adds gnuplot commands. Text that is not ours goes through quote::gnuplot.
  void script(std::string_view commands);
  // Runs gnuplot; the file is written whole or not at all. An Error repeats what gnuplot complained about.
  void write(const std::filesystem::path& path) const;
  // The script without the terminal and the settings that all figures share.
  const std::string& body() const { return body_; }
  double height_cm() const { return height_cm_; }

 private:
  double width_cm_;
  double height_cm_;
  std::string body_;
};

}  // namespace longtail::base
