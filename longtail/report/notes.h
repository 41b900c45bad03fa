// What people wrote about the studies that a report is made from: their names, the sentence in the study file
// (`about`) and notes.md in the folder.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace longtail::report {

struct StudyNotes {
  std::string name{};
  std::string about{};  // a sentence, may be empty
  std::string notes{};  // the text of notes.md, may be empty
};

// One for each path that is the folder of a study. `warnings` name what cannot be read.
std::vector<StudyNotes> read_notes(std::span<const std::filesystem::path> paths,
                                   std::vector<std::string>& warnings);

// Paragraphs, headings (#), lists (- or *) and blocks between ``` as HTML. Everything else, links and HTML
// too, is shown as it is written.
std::string notes_html(const std::string& markdown);

}  // namespace longtail::report
