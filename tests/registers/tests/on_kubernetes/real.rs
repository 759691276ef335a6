//! On the real API server: the suite, and what befalls it.
