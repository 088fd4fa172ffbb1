//! A line of a trace: `PROCESS VERB NUMBERS`, as SimGrid's SMPI writes it.

use std::fmt;

use smallvec::SmallVec;

use crate::abi::{self, Datatype};

macro_rules! verbs {
    ($($verb:ident $name:literal $least:literal $most:expr, $form:literal;)*) => {
        /// What a process does.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
        #[allow(missing_docs)]
        pub enum Verb { $($verb,)* }

        impl Verb {
            /// All of them.
            pub const ALL: &[Verb] = &[$(Verb::$verb,)*];

            /// As it is written.
            pub fn name(self) -> &'static str {
                match self { $(Verb::$verb => $name,)* }
            }

            /// How many numbers follow: at least, and at most.
            fn numbers(self) -> (usize, usize) {
                match self { $(Verb::$verb => ($least, $most),)* }
            }

            /// How it is written, with what follows.
            pub fn form(self) -> &'static str {
                match self { $(Verb::$verb => $form,)* }
            }
        }
    };
}

const MANY: usize = usize::MAX;

verbs! {
    Init "init" 0 1, "init";
    Finalize "finalize" 0 0, "finalize";
    CommSize "comm_size" 0 MANY, "comm_size N";
    CommDup "comm_dup" 0 MANY, "comm_dup";
    CommSplit "comm_split" 0 MANY, "comm_split";
    Compute "compute" 1 1, "compute FLOPS";
    Sleep "sleep" 1 1, "sleep SECONDS";
    Send "send" 3 4, "send TO TAG COUNT TYPE";
    Ssend "Ssend" 3 4, "Ssend TO TAG COUNT TYPE";
    Bsend "Bsend" 3 4, "Bsend TO TAG COUNT TYPE";
    Isend "isend" 3 4, "isend TO TAG COUNT TYPE";
    Issend "Issend" 3 4, "Issend TO TAG COUNT TYPE";
    Recv "recv" 1 4, "recv FROM TAG COUNT TYPE";
    Irecv "irecv" 1 4, "irecv FROM TAG COUNT TYPE";
    SendRecv "sendRecv" 4 6, "sendRecv SENDCOUNT TO RECVCOUNT FROM SENDTYPE RECVTYPE";
    Wait "wait" 0 3, "wait FROM TO TAG";
    Test "test" 0 3, "test FROM TO TAG";
    Waitall "waitall" 0 1, "waitall N";
    Barrier "barrier" 0 0, "barrier";
    Bcast "bcast" 1 3, "bcast COUNT ROOT TYPE";
    Reduce "reduce" 2 4, "reduce COUNT FLOPS ROOT TYPE";
    Allreduce "allreduce" 2 3, "allreduce COUNT FLOPS TYPE";
    Gather "gather" 2 5, "gather SENDCOUNT RECVCOUNT ROOT SENDTYPE RECVTYPE";
    Scatter "scatter" 2 5, "scatter SENDCOUNT RECVCOUNT ROOT SENDTYPE RECVTYPE";
    Allgather "allgather" 2 4, "allgather SENDCOUNT RECVCOUNT SENDTYPE RECVTYPE";
    Alltoall "alltoall" 2 4, "alltoall SENDCOUNT RECVCOUNT SENDTYPE RECVTYPE";
    Gatherv "gatherv" 2 MANY, "gatherv SENDCOUNT RECVCOUNTS ROOT SENDTYPE RECVTYPE";
    Scatterv "scatterv" 2 MANY, "scatterv SENDCOUNTS RECVCOUNT ROOT SENDTYPE RECVTYPE";
    Allgatherv "allgatherv" 2 MANY, "allgatherv SENDCOUNT RECVCOUNTS SENDTYPE RECVTYPE";
    Alltoallv "alltoallv" 4 MANY, "alltoallv SENT SENDCOUNTS RECEIVED RECVCOUNTS SENDTYPE RECVTYPE";
    ReduceScatter "reducescatter" 2 MANY, "reducescatter RECVCOUNTS FLOPS TYPE";
    Scan "scan" 2 3, "scan COUNT FLOPS TYPE";
    Exscan "exscan" 2 3, "exscan COUNT FLOPS TYPE";
}

/// What a process does, and with what.
#[derive(Clone, PartialEq, Debug)]
pub struct Action {
    /// What it does.
    pub verb: Verb,
    /// What follows.
    pub numbers: Numbers,
}

/// The numbers of a line.
pub type Numbers = SmallVec<[f64; 4]>;

impl Action {
    /// An action.
    pub fn new(verb: Verb, numbers: impl IntoIterator<Item = f64>) -> Self {
        Self { verb, numbers: numbers.into_iter().collect() }
    }

    /// Reads what follows the process.
    ///
    /// # Errors
    /// What is wrong, and what to write.
    pub fn parse(verb: &str, words: &[&str]) -> Result<Self, String> {
        let known = Verb::ALL.iter().find(|known| known.name().eq_ignore_ascii_case(verb)).copied();
        let Some(known) = known else {
            let names: Vec<_> = Verb::ALL.iter().map(|verb| verb.name()).collect();
            return Err(format!("there is no action {verb:?}; there are {}", names.join(", ")));
        };
        let form = format!("it is written `PROCESS {}`", known.form());
        let number = |word: &&str| {
            let parsed = simurgh_platform::units::parse_flops(word).ok().or_else(|| word.parse().ok());
            parsed
                .filter(|number: &f64| number.is_finite())
                .ok_or_else(|| format!("{verb}: {word:?} is no number; {form}"))
        };
        let numbers = words.iter().map(number).collect::<Result<Numbers, String>>()?;
        let (least, most) = known.numbers();
        if numbers.len() < least {
            return Err(format!("{verb}: a number is missing; {form}"));
        }
        if numbers.len() > most {
            return Err(format!("{verb}: {:?} is one word too many; {form}", words[most]));
        }
        let first = numbers.first().copied().unwrap_or(0.0);
        if matches!(known, Verb::Compute | Verb::Sleep) && first < 0.0 {
            return Err(format!("{verb}: {first} is negative; give a number that is not"));
        }
        Ok(Self { verb: known, numbers })
    }

    /// One of the numbers, or what it means that there is none.
    pub fn number(&self, place: usize, otherwise: f64) -> f64 {
        self.numbers.get(place).copied().unwrap_or(otherwise)
    }

    /// One of the numbers, as a whole number.
    pub fn whole(&self, place: usize, otherwise: i64) -> i64 {
        self.number(place, otherwise as f64) as i64
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.verb.name())?;
        self.numbers.iter().try_for_each(|number| write!(f, " {number}"))
    }
}

/// Types that the format has numbers for, by these numbers.
const TYPES: [Datatype; 7] = [abi::DOUBLE, abi::INT, abi::CHAR, abi::SHORT, abi::LONG, abi::FLOAT, abi::BYTE];

/// The number of bytes.
pub const BYTES: f64 = 6.0;

/// The number of a predefined type of this size: its own, or that of another of the same size.
pub fn number_of(datatype: Datatype, size: usize) -> Option<f64> {
    let own = TYPES.iter().position(|known| *known == datatype);
    let same = || match size {
        8 => Some(0),
        4 => Some(1),
        2 => Some(3),
        1 => Some(6),
        _ => None,
    };
    own.or_else(same).map(|number| number as f64)
}

/// The type that a number stands for: bytes if it is none of them.
pub fn type_of(number: f64) -> Datatype {
    TYPES.get(number as usize).copied().unwrap_or(abi::BYTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<String, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        Action::parse(words[0], &words[1..]).map(|action| action.to_string())
    }

    #[test]
    fn lines_print_and_parse_back() {
        for line in [
            "init",
            "compute 1234.5",
            "send 1 7 100 2",
            "Ssend 1 7 100 2",
            "wait 3 0 4",
            "reduce 10 0 1 0",
            "alltoallv 8 2 2 2 2 8 2 2 2 2 1 1",
            "finalize",
        ] {
            assert_eq!(parsed(line), Ok(line.to_owned()));
        }
        assert_eq!(parsed("SEND 1 0 1e3"), Ok("send 1 0 1000".to_owned()));
        assert_eq!(parsed("compute 1Gf"), Ok("compute 1000000000".to_owned()));
    }

    #[test]
    fn what_is_wrong_is_told_with_the_right_form() {
        for (line, said) in [
            ("jump 1", "there is no action"),
            ("send 1 0", "a number is missing; it is written `PROCESS send TO TAG COUNT TYPE`"),
            ("compute 1 2", "\"2\" is one word too many"),
            ("compute x", "\"x\" is no number"),
            ("compute -1", "is negative"),
            ("sleep inf", "is no number"),
        ] {
            let told = parsed(line).expect_err(line);
            assert!(told.contains(said), "{told}");
        }
    }

    #[test]
    fn types_have_the_numbers_of_the_format() {
        assert_eq!(number_of(abi::DOUBLE, 8), Some(0.0));
        assert_eq!(number_of(abi::LONG, 8), Some(4.0));
        assert_eq!(number_of(abi::UNSIGNED, 4), Some(1.0), "another of the same size");
        assert_eq!(number_of(abi::C_DOUBLE_COMPLEX, 16), None);
        assert_eq!((type_of(5.0), type_of(99.0)), (abi::FLOAT, abi::BYTE));
    }
}
