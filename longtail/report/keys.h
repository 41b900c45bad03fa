// What every number of a report belongs to: a series (the strategy and what else varies between trainings)
// and a condition (the imbalance ratio and what else varies between data). Both are made of their parts; a
// text is for people and files and is never parsed again.
#pragma once

#include <compare>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace longtail::report {

class Series {
 public:
  Series() = default;
  // The strategy as in the log, "progressive:gamma=2", and the other settings that vary, "lr=0.05, clip=5".
  explicit Series(std::string strategy, std::string beside = "");

  // Sets the name for people, "LDAM-DRW", in place of the title that is made of its parts. The series stays
  // the same.
  void call(std::string name) { name_ = std::move(name); }

  const std::string& strategy() const { return strategy_; }
  const std::string& text() const { return text_; }  // "progressive:gamma=2 (lr=0.05)"
  std::string title() const;                         // "Progressive (gamma=2, lr=0.05)", or call()'s name
  std::string label() const;                         // the title, cut to what a figure has room for
  std::string words() const;                         // "progressive (gamma=2, lr=0.05)": in a sentence
  std::string slug() const;                          // "progressive_gamma_2_lr_0_05": for a file name

  friend bool operator==(const Series& a, const Series& b) { return a.text_ == b.text_; }
  friend auto operator<=>(const Series& a, const Series& b) { return a.text_ <=> b.text_; }

 private:
  std::string strategy_, beside_, text_, name_;
};

class Condition {
 public:
  Condition() = default;
  explicit Condition(double rho) : Condition("", rho) {}
  // The data, "cifar100", or nothing where only the ratio varies. Ratios are told apart as printed, to six
  // digits.
  Condition(std::string data, double rho);

  const std::string& data() const { return data_; }
  double rho() const { return rho_; }
  const std::string& text() const { return text_; }  // "100", "cifar100, 100"
  std::string phrase() const;                        // "ρ = 100", "cifar100, ρ = 100"
  std::string slug() const;                          // "rho100", "cifar100_rho100": for a file name
  // Sets another slug where two conditions would have the same one. The condition stays the same.
  void file_under(std::string slug) { slug_ = std::move(slug); }

  // By the ratio, then by the text, which has the data.
  friend bool operator==(const Condition& a, const Condition& b) { return a.text_ == b.text_; }
  friend bool operator<(const Condition& a, const Condition& b) {
    return a.rho_ != b.rho_ ? a.rho_ < b.rho_ : a.text_ < b.text_;
  }

 private:
  double rho_ = 0;
  std::string text_, data_, slug_;
};

// "Birds, 2nd try" -> "Birds_2nd_try": fit for a file name.
std::string slug_of(std::string_view words);

// The name itself or, if it is taken, NAME_2, NAME_3, ...: names that differ only in signs (q=0.5, q=-0.5)
// have one slug.
std::string untaken(const std::string& name, std::set<std::string>& taken);

// Gives each condition a slug of its own, for every table, figure and link of a report.
void give_slugs(std::span<Condition> conditions);

}  // namespace longtail::report
