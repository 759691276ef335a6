//! On the double: each answer of the table, slow and frozen answers, and the ends of a watch.
