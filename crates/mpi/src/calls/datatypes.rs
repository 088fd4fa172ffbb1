//! Datatypes: constructors, what is asked of them, packing (MPI 5.0, chapter 5).
