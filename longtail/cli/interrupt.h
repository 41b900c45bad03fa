// SIGINT, SIGTERM and SIGHUP as a question: long work asks interrupted() now and then and ends cleanly. A second
// signal ends the program at once (a checkpoint is written whole or not at all, so nothing is lost by that
// either). What was ignored from the start (`nohup`) stays ignored.
#pragma once

namespace longtail::cli {

void catch_interrupts();
bool interrupted();

}  // namespace longtail::cli
