// For tests of everything that is written from names: names that an attacker would put into a log, a study or
// a data set to make its reader do something else. One that succeeds makes a file `PWNED` in the current
// folder, or sets `window.pwned` in a page.
#pragma once

#include <string>
#include <vector>

namespace longtail::base {

inline std::vector<std::string> hostile_names() {
  return {
      // gnuplot
      "x\nsystem(\"touch PWNED\")\n#",
      "x'\nsystem('touch PWNED')\n#",
      "x' ; system('touch PWNED') #",
      "'.system('touch PWNED').'",
      "\" . system(\"touch PWNED\") . \"",
      "`touch PWNED`",
      "x\nEND_OF_BLOCK\n!touch PWNED\n",
      "%s%n%d%100000c",
      "@system",
      // LaTeX
      "\\write18{touch PWNED}",
      "\\immediate\\write18{touch PWNED}",
      "\\input{|\"touch PWNED\"}",
      "^^5cwrite18{touch PWNED}",
      "\\end{tabular}\\newwrite\\f\\immediate\\openout\\f=PWNED ",
      "[9cm] \\\\ {}&%$#_~^",
      "*}{",
      // HTML and JavaScript
      "<script>window.pwned=1</script>",
      "<!--<script>",
      "</script><script>window.pwned=1</script>",
      "<img src=x onerror=window.pwned=1>",
      "\" onmouseover=\"window.pwned=1",
      "' autofocus onfocus='window.pwned=1",
      "<svg onload=window.pwned=1>",
      "javascript:window.pwned=1",
      "[click](javascript:window.pwned=1)",
      "]]><!-- --!> &lt;script&gt;",
      "@SCRIPT@ @DATA@",
      "__proto__",
      "constructor",
      // spreadsheets
      "=cmd|' /C touch PWNED'!A0",
      "=HYPERLINK(\"file:PWNED\")",
      "+1+1",
      "-1+1",
      "@SUM(1+1)",
      "a,\"b\",c",
      "a\r\nb,1,2,3",
      // shell, Slurm
      "$(touch PWNED)",
      "; touch PWNED;",
      "' ; touch PWNED ; '",
      "a\n#SBATCH --wrap=\"touch PWNED\"\ntouch PWNED",
      "--wrap=touch PWNED",
      "a && touch PWNED || b",
      // terminal
      "\x1b]0;pwned\x07\x1b[2J\x1b[31mred",
      "\302\23331mred",
      "\x08\x08\x08\x7f",
      "\r overwritten",
      // odd text
      "\342\200\256desrever",
      "a\342\200\250b",
      "\xff\xfe not UTF-8",
      "名前 ρ ± é 🐈",
      "../../PWNED",
      "con|nul:?*\"<>",
      "a b  c ",
  };
}

}  // namespace longtail::base
