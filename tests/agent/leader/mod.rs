//! What applications do with a leadership: `src/leader/`, a file for each of its folders.

mod fence;
