// Text from outside on its way into something that reads it again: one function for each target, all of them
// here. Logs, studies and data sets are made to be shared, so a name in them may be meant to break out. Two
// walls: require_plain() when a name is read (no control characters, no bytes that are not UTF-8), and the
// quote of the target when it is written, which holds for any bytes, refused before or not.
//
//   require_plain("the key `strategy`", log.strategy);
//   figure.script("plot $u with lines title " + quote::gnuplot(log.strategy));
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace longtail::base {

// UTF-8 without control characters, line separators and the marks that turn the direction of writing.
bool is_plain(std::string_view text);
// An Error "... has a control character (\x1b) ..." unless is_plain(text). `what` says whose text it is.
void require_plain(std::string_view what, std::string_view text);

namespace quote {

// A string of gnuplot, with its quotes: nothing in it is a command, a line, a format or a substitution.
std::string gnuplot(std::string_view text);
// The same for the label of a tic, where gnuplot would read a % as a format.
std::string gnuplot_tic(std::string_view text);
// Text of a LaTeX document, also as the first of a cell.
std::string latex(std::string_view text);
// Text or an attribute in quotes of an HTML page.
std::string html(std::string_view text);
// A JSON document inside a <script> element: no `<` is left that could end the element or begin a comment.
std::string json_in_html(std::string_view json);
// Text of a Markdown document, also in a table: no HTML, no link, no column.
std::string markdown(std::string_view text);
// A cell of a CSV file; a text that a spreadsheet would take for a formula begins with an apostrophe.
std::string csv(std::string_view text);
// A word as a shell takes it literally: it's -> 'it'\''s'.
std::string shell(std::string_view word);
// What a terminal may be sent: control characters but the end of a line and the tab are shown (\x1b), not
// sent.
std::string terminal(std::string_view text);

}  // namespace quote

// The cells of one line of a CSV file, quotes undone, and the apostrophe before a formula too.
std::vector<std::string> csv_cells(std::string_view line);

}  // namespace longtail::base
