# Makes multcomp.csv: what R's multcomp says of block designs, for family_test.cc to be held against.
# Debian: r-cran-multcomp. Run here: Rscript multcomp.R
library(multcomp)
set.seed(1)

tight <- GenzBretz(maxpts = 1e5, abseps = 2e-5)
paper <- read.csv("../data/paper_per_seed.csv")

made <- function(strategies, seeds, holes) {  # plain arithmetic, so that the test can write the same numbers
  d <- expand.grid(strategy = seq_len(strategies), seed = seq_len(seeds))
  d$y <- 40 + 0.7 * d$strategy + 1.3 * d$seed + ((d$strategy * 37 + d$seed * 61 + d$strategy * d$seed * 17) %% 23) / 10
  d <- d[!paste(d$strategy, d$seed) %in% holes, ]
  d
}
of_paper <- function(ratio, metric, holes = character()) {
  d <- paper[paper$rho == ratio, ]
  order <- c("uniform", "class_balanced", "square_root", "progressive")
  d <- data.frame(strategy = match(d$strategy, order), seed = match(d$seed, c(42, 123, 456)), y = d[[metric]])
  d[!paste(d$strategy, d$seed) %in% holes, ]
}

cases <- list(
  paper_tail_100 = of_paper(100, "tail"),
  paper_tail_50 = of_paper(50, "tail"),
  paper_overall_10 = of_paper(10, "overall"),
  paper_tail_100_holes = of_paper(100, "tail", c("2 1", "4 3")),
  two_by_two = made(2, 2, character()),
  three_by_five_holes = made(3, 5, c("1 2", "3 4")),
  five_by_six_holes = made(5, 6, c("1 1", "2 3", "5 6", "4 2")),
  eight_by_ten = made(8, 10, character()),
  eight_by_four_holes = made(8, 4, c("1 1", "3 2", "3 3", "7 4", "8 1")))

out <- NULL
known <- list()
for (name in names(cases)) {
  d <- cases[[name]]
  d$strategy <- factor(d$strategy)
  d$seed <- factor(d$seed)
  model <- lm(y ~ strategy + seed, data = d)
  for (control in seq_len(nlevels(d$strategy))) {
    d2 <- d
    d2$strategy <- relevel(d2$strategy, as.character(control))
    g <- glht(lm(y ~ strategy + seed, data = d2), linfct = mcp(strategy = "Dunnett"))
    corr <- cov2cor(vcov(g))
    quantile_of <- function(tail) {
      if (nrow(corr) == 1) return(qt(if (tail == "both.tails") 0.975 else 0.95, g$df))
      # Balanced designs have the same for every control: work it out once.
      key <- paste(tail, g$df, paste(round(corr, 8), collapse = " "))
      if (is.null(known[[key]]))
        known[[key]] <<- qmvt(0.95, interval = c(1.5, 8), tail = tail, df = g$df, corr = corr,
                              algorithm = tight)$quantile
      known[[key]]
    }
    two <- quantile_of("both.tails")
    one <- quantile_of("lower.tail")
    both <- confint(g, calpha = two)$confint
    se <- sqrt(diag(vcov(g)))
    others <- setdiff(seq_len(nlevels(d$strategy)), control)
    out <- rbind(out, data.frame(case = name, control = control, other = others, dof = g$df,
      two_sided = two, one_sided = one, estimate = both[, 1], low = both[, 2], high = both[, 3],
      # what rules the control out: the other's mean minus the control's is above this
      ruling = one * se))
  }
}
write.csv(format(out, digits = 7), "multcomp.csv", row.names = FALSE, quote = FALSE)
