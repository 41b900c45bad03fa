// Quotes text from outside for formats that something else parses: one function per target, all of them here.
// Logs, studies and data sets are made to be shared, so a name in them may be meant to break out. There are
// two defences: require_plain() when a name is read (no control characters, no bytes that are not UTF-8), and
// the quote of the target when it is written, which is safe for any bytes, checked before or not.
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
// An Error "... has a control character (\x1b) ..." unless is_plain(text). `what` names the text.
void require_plain(std::string_view what, std::string_view text);

namespace quote {

// A gnuplot string with its quotes: nothing in it acts as a command, a line end, a format or a substitution.
std::string gnuplot(std::string_view text);
// The same for the label of a tic, where gnuplot would read % as a format.
std::string gnuplot_tic(std::string_view text);
// Text in a LaTeX document, also at the beginning of a table cell.
std::string latex(std::string_view text);
// Text or a quoted attribute in an HTML page.
std::string html(std::string_view text);
// A JSON document inside a <script> element: no `<` is left that could end the element or begin a comment.
std::string json_in_html(std::string_view json);
// Text in a Markdown document, also in a table: it cannot begin HTML, a link or a column.
std::string markdown(std::string_view text);
// A cell of a CSV file; text that a spreadsheet would take for a formula gets an apostrophe in front.
std::string csv(std::string_view text);
// A word quoted so that a shell takes it literally: it's -> 'it'\''s'.
std::string shell(std::string_view word);
// The same for a command that a person may copy: quoted only if it has to be.
std::string argument(std::string_view word);
// Text that is safe to send to a terminal: control characters other than newline and tab are shown (\x1b),
// not sent.
std::string terminal(std::string_view text);

}  // namespace quote

// The cells of one line of a CSV file, without their quotes and without the apostrophe before a formula.
std::vector<std::string> csv_cells(std::string_view line);

}  // namespace longtail::base
