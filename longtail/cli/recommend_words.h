// The text output of `longtail recommend`: the class sizes as a bar chart, the plan, the looks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "longtail/cli/recommend_plan.h"
#include "longtail/report/recommendation.h"

namespace longtail::cli {

// 0: all classes have as many images; towards 1: one class has nearly all.
double gini(std::span<const std::int64_t> counts);

// One bar per class, the largest first; from 30 classes on, neighbours share a bar.
std::string class_picture(std::span<const std::int64_t> counts, std::span<const std::string> names,
                          int width);

// "10 classes, 1,049 training images: 320 to 6 each, ratio 53, Gini 0.59 (0 is balanced)."
std::string class_words(std::span<const std::int64_t> counts);

// "The answer is about images of 32x32 pixels: ..." where the pictures are larger than what was trained on;
// otherwise empty.
std::string size_words(const RecommendPlan& plan);

// "After 3 seeds: class-balanced is ruled out; uniform and progressive may be the best."
std::string look_words(const report::Race& race, const std::vector<std::string>& words, int seeds);

}  // namespace longtail::cli
